/// What the C library's allocator is told.
#ifndef CMEMORY_H
#define CMEMORY_H

#include <stdbool.h>

/// Sets glibc's allocator up so that a process holds what it uses: two arenas at most, large blocks mapped by
/// themselves and so given back when they are freed, the heap's end given back too. For the whole process; call it early,
/// and only where the process is one's own. False where the C library has no such settings.
bool cmemory_configure_allocator(void);

#endif
