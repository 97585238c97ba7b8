/// What the C library's allocator is told.
#ifndef CMEMORY_H
#define CMEMORY_H

#include <stdbool.h>

/// Sets glibc's allocator up so that a process holds what it uses: two arenas at most, large blocks mapped by
/// themselves and so given back when they are freed, the heap's end given back too. For the whole process; call it early,
/// and only where the process is one's own. False where the C library has no such settings.
bool cmemory_configure_allocator(void);

/// Gives back the pages of the program and its libraries that hold code and constants, which come back from their files,
/// without any copying, when they are touched again. Starting a program touches 4 MB of them, a third of what making a
/// picture takes.
void cmemory_release_code(void);

/// Gives back what is resident only because it was needed once: these pages, and free memory of the allocator.
void cmemory_trim(void);

#endif
