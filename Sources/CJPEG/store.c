#define _GNU_SOURCE  // MAP_ANONYMOUS, off_t of 64 bits
#define _FILE_OFFSET_BITS 64
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Packed rows lie in chunks of a fixed size, so that rows which grow with every scan leave no holes behind. Chunks come from
// slabs, which the kernel gives pages only as they are used.
enum { CHUNK = 512, SLAB = 256 << 10, CHUNKS_PER_SLAB = SLAB / CHUNK, NOTHING = 0 };

typedef struct {
  uint32_t next;  // 0 at the end
  uint8_t bytes[CHUNK - sizeof(uint32_t)];
} chunk;

/// A packed row, or half a row: nothing, in memory, or in the file.
typedef struct {
  uint32_t bytes;  // 0: all coefficients are 0
  uint32_t first;  // chunk; 0: in the file
  uint32_t placed; // the most bytes that were in the file
  off_t place;     // in the file; -1 without one. Kept for the next time
} packed;

/// What of its blocks a scan can touch, and what an unpacked row therefore holds.
typedef enum { DC = 1, AC = 2, ALL = DC | AC } parts;

typedef struct {
  bool is_used, is_changed;
  JDIMENSION row;
} slot;

typedef struct {
  JDIMENSION blocks_per_row, row_count, most_accessed, rows_per_mcu;
  uint64_t kept;
  packed *dc, *ac;      // for each row
  slot *slots;          // unpacked rows: row r is in slot r modulo the slots in use
  JBLOCKARRAY rows;     // what is given to libjpeg
  cjpeg_block *blocks;  // of the slots
  size_t block_bytes;
  JDIMENSION slots_used;
  parts loaded;  // of every slot
} block_rows;

struct cjpeg_store {
  cjpeg_limits limits;
  cjpeg_blocks_variant variant;
  int array_count;
  block_rows arrays[MAX_COMPONENTS];
  uint8_t *scratch;  // a packed row
  size_t scratch_bytes, fixed_bytes;
  uint8_t **slabs;
  size_t slab_count, slab_capacity;
  uint32_t chunks_made;  // numbered from 1
  uint32_t free_chunk;
  size_t chunks_in_use, most_chunks_in_use, chunk_limit;
  int file;
  off_t file_end;
  size_t placed_bytes, written_bytes;
};

static cjpeg_store *store_of(j_common_ptr info) { return ((cjpeg_errors *)info->err)->memory->store; }

// MARK: Chunks

static chunk *chunk_at(const cjpeg_store *store, uint32_t number) {
  const uint32_t index = number - 1;
  return (chunk *)(store->slabs[index / CHUNKS_PER_SLAB] + (size_t)(index % CHUNKS_PER_SLAB) * CHUNK);
}

static void add_slab(cjpeg_store *store, j_common_ptr info) {
  if (store->slab_count == store->slab_capacity) {
    const size_t capacity = store->slab_capacity ? 2 * store->slab_capacity : 16;
    uint8_t **slabs = realloc(store->slabs, capacity * sizeof *slabs);
    if (!slabs) cjpeg_escape(info, CJPEG_NO_MEMORY, "no memory for %zu blocks of coefficients", capacity);
    store->slabs = slabs;
    store->slab_capacity = capacity;
  }
  void *slab = mmap(NULL, SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slab == MAP_FAILED) cjpeg_escape(info, CJPEG_NO_MEMORY, "no memory for coefficients: %s", strerror(errno));
  store->slabs[store->slab_count++] = slab;
}

static uint32_t take_chunk(cjpeg_store *store, j_common_ptr info) {
  uint32_t number = store->free_chunk;
  if (number != NOTHING) {
    store->free_chunk = chunk_at(store, number)->next;
  } else {
    if (store->chunks_made == store->slab_count * CHUNKS_PER_SLAB) add_slab(store, info);
    number = ++store->chunks_made;
  }
  if (++store->chunks_in_use > store->most_chunks_in_use) store->most_chunks_in_use = store->chunks_in_use;
  return number;
}

static void free_chunks(cjpeg_store *store, uint32_t number) {
  while (number != NOTHING) {
    chunk *old = chunk_at(store, number);
    const uint32_t next = old->next;
    old->next = store->free_chunk;
    store->free_chunk = number;
    store->chunks_in_use--;
    number = next;
  }
}

// MARK: The file

static void open_file(cjpeg_store *store, j_common_ptr info) {
  if (store->file >= 0) return;
  if (store->limits.open_file) store->file = store->limits.open_file(store->limits.context);
  if (store->file < 0) cjpeg_escape(info, CJPEG_WRITE_FAILED, "the temporary file for coefficients cannot be opened");
}

// A row keeps its place, which is large enough for any row: what is never written there takes no room on the disk.
static void write_row(cjpeg_store *store, j_common_ptr info, packed *row, const uint8_t *bytes, size_t most) {
  open_file(store, info);
  if (row->place < 0) {
    row->place = store->file_end;
    store->file_end += (off_t)((most + 4095) & ~(size_t)4095);
  }
  if (row->bytes > row->placed) {
    store->placed_bytes += row->bytes - row->placed;
    row->placed = row->bytes;
  }
  if (store->placed_bytes > store->limits.file_bytes)
    cjpeg_escape(info, CJPEG_NO_MEMORY, "coefficients need more than %zu bytes of a temporary file", store->limits.file_bytes);
  for (size_t done = 0; done < row->bytes;) {
    const ssize_t count = pwrite(store->file, bytes + done, row->bytes - done, row->place + (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      cjpeg_escape(info, CJPEG_WRITE_FAILED, "writing the temporary file for coefficients failed: %s",
                   count < 0 ? strerror(errno) : "nothing was written");
    done += (size_t)count;
  }
  store->written_bytes += row->bytes;
}

static void read_row(cjpeg_store *store, j_common_ptr info, const packed *row, uint8_t *bytes) {
  for (size_t done = 0; done < row->bytes;) {
    const ssize_t count = pread(store->file, bytes + done, row->bytes - done, row->place + (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      cjpeg_escape(info, CJPEG_READ_FAILED, "reading the temporary file for coefficients failed: %s",
                   count < 0 ? strerror(errno) : "it ends too early");
    done += (size_t)count;
  }
}

// MARK: Packed rows

// Brings a row into the scratch memory; false when it is all zeros.
static bool fetch(cjpeg_store *store, j_common_ptr info, const packed *row) {
  if (row->bytes == 0) return false;
  if (row->first == NOTHING) {
    read_row(store, info, row, store->scratch);
    return true;
  }
  size_t rest = row->bytes;
  uint8_t *out = store->scratch;
  for (uint32_t number = row->first; rest > 0;) {
    const chunk *from = chunk_at(store, number);
    const size_t count = rest < sizeof from->bytes ? rest : sizeof from->bytes;
    memcpy(out, from->bytes, count);
    out += count;
    rest -= count;
    number = from->next;
  }
  return true;
}

// Keeps what is in the scratch memory up to `end`. Scans sweep over all rows in order, so that the row just used is the one
// that is needed last: it is the one that goes to the file where there is no room.
static void keep(cjpeg_store *store, j_common_ptr info, packed *row, const uint8_t *end, size_t most) {
  free_chunks(store, row->first);
  row->first = NOTHING;
  row->bytes = (uint32_t)(end - store->scratch);
  if (row->bytes == 0) return;
  const size_t needed = (row->bytes + sizeof((chunk *)0)->bytes - 1) / sizeof((chunk *)0)->bytes;
  if (needed > store->chunk_limit - store->chunks_in_use) {
    write_row(store, info, row, store->scratch, most);
    return;
  }
  size_t rest = row->bytes;
  const uint8_t *from = store->scratch;
  chunk *last = NULL;
  while (rest > 0) {
    const uint32_t number = take_chunk(store, info);
    chunk *to = chunk_at(store, number);
    const size_t count = rest < sizeof to->bytes ? rest : sizeof to->bytes;
    to->next = NOTHING;
    memcpy(to->bytes, from, count);
    if (last) {
      last->next = number;
    } else {
      row->first = number;
    }
    last = to;
    from += count;
    rest -= count;
  }
}

// MARK: Making and freeing

cjpeg_store *cjpeg_store_create(const cjpeg_limits *limits, cjpeg_blocks_variant variant) {
  cjpeg_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->limits = *limits;
  store->variant = variant;
  store->file = -1;
  return store;
}

void cjpeg_store_free(cjpeg_store *store) {
  if (!store) return;
  for (int i = 0; i < store->array_count; i++) {
    block_rows *array = &store->arrays[i];
    free(array->dc);
    free(array->ac);
    free(array->slots);
    free(array->rows);
    if (array->blocks) munmap(array->blocks, array->block_bytes);
  }
  if (store->scratch) munmap(store->scratch, store->scratch_bytes);
  for (size_t i = 0; i < store->slab_count; i++) munmap(store->slabs[i], SLAB);
  free(store->slabs);
  if (store->file >= 0) close(store->file);
  free(store);
}

cjpeg_usage cjpeg_store_usage(const cjpeg_store *store) {
  if (!store) return (cjpeg_usage){0};
  return (cjpeg_usage){
      .store_fixed_bytes = store->fixed_bytes,
      .store_bytes = store->fixed_bytes + store->most_chunks_in_use * CHUNK,
      .file_bytes = store->placed_bytes,
      .written_bytes = store->written_bytes,
  };
}

jvirt_barray_ptr cjpeg_store_request(j_common_ptr info, int pool, boolean zeroed, JDIMENSION blocks_per_row,
                                     JDIMENSION row_count, JDIMENSION most_accessed) {
  (void)pool;
  (void)zeroed;
  cjpeg_store *store = store_of(info);
  if (!store || store->array_count == MAX_COMPONENTS)
    cjpeg_escape(info, CJPEG_FAULT, "there is no store for the coefficients");
  // libjpeg asks for one array for each component, in order.
  const int index = store->array_count++;
  block_rows *array = &store->arrays[index];
  array->blocks_per_row = blocks_per_row;
  array->row_count = row_count;
  array->rows_per_mcu = (JDIMENSION)((j_decompress_ptr)info)->comp_info[index].v_samp_factor;
  array->most_accessed = most_accessed > array->rows_per_mcu ? most_accessed : array->rows_per_mcu;
  return (jvirt_barray_ptr)array;
}

// Memory that is counted whole and becomes resident only where it is used: huge pages would make it so at once.
static void *map(j_common_ptr info, size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    cjpeg_escape(info, CJPEG_NO_MEMORY, "no memory for %zu bytes of coefficients: %s", bytes, strerror(errno));
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // only advice: where it is not known, no harm is done
  return memory;
}

static void *allocate(j_common_ptr info, size_t count, size_t bytes) {
  void *memory = calloc(count, bytes);
  if (!memory) cjpeg_escape(info, CJPEG_NO_MEMORY, "no memory for %zu rows of coefficients", count);
  return memory;
}

// The coefficients that libjpeg-turbo's inverse DCT to blocks of this side reads. Its reduced transforms are not those of the
// top left corner alone.
static uint64_t coefficients_read(int scaled_size) {
  int rows = 0;
  if (scaled_size >= 8) return ~(uint64_t)0;
  switch (scaled_size) {
    case 4: rows = 0xEF; break;
    case 2: rows = 0xAB; break;
    default: rows = (1 << scaled_size) - 1; break;
  }
  uint64_t mask = 0;
  for (int row = 0; row < 8; row++)
    if (rows >> row & 1) mask |= (uint64_t)rows << 8 * row;
  return mask;
}

void cjpeg_store_realize(j_common_ptr info) {
  cjpeg_store *store = store_of(info);
  if (!store || store->array_count == 0 || store->scratch) return;
  size_t longest = 0;
  for (int i = 0; i < store->array_count; i++) {
    block_rows *array = &store->arrays[i];
    array->kept = coefficients_read(cjpeg_scaled_size(&((j_decompress_ptr)info)->comp_info[i]));
    array->dc = allocate(info, array->row_count, sizeof *array->dc);
    array->ac = allocate(info, array->row_count, sizeof *array->ac);
    for (JDIMENSION row = 0; row < array->row_count; row++) array->dc[row].place = array->ac[row].place = -1;
    array->slots = allocate(info, array->most_accessed, sizeof *array->slots);
    array->rows = allocate(info, array->most_accessed, sizeof *array->rows);
    array->block_bytes = (size_t)array->most_accessed * array->blocks_per_row * sizeof *array->blocks;
    array->blocks = map(info, array->block_bytes);
    store->fixed_bytes += array->block_bytes + array->row_count * 2 * sizeof *array->dc +
                          array->most_accessed * (sizeof *array->slots + sizeof *array->rows);
    if (array->blocks_per_row > longest) longest = array->blocks_per_row;
  }
  store->scratch_bytes = CJPEG_PACKED_AC_HEADER + longest * CJPEG_PACKED_AC_MOST + CJPEG_PACKED_PADDING;
  store->scratch = map(info, store->scratch_bytes);
  store->fixed_bytes += store->scratch_bytes;
  if (store->fixed_bytes > store->limits.store_bytes)
    cjpeg_escape(info, CJPEG_NO_MEMORY, "coefficients need %zu bytes at least, %zu are allowed", store->fixed_bytes,
                 store->limits.store_bytes);
  store->chunk_limit = (store->limits.store_bytes - store->fixed_bytes) / CHUNK;
  if (store->chunk_limit > UINT32_MAX - 1) store->chunk_limit = UINT32_MAX - 1;
}

// MARK: Unpacked rows

static cjpeg_block *blocks_of(const block_rows *array, size_t slot) { return array->blocks + slot * array->blocks_per_row; }

static void unload(cjpeg_store *store, j_common_ptr info, block_rows *array, JDIMENSION index) {
  slot *slot = &array->slots[index];
  if (slot->is_used && slot->is_changed) {
    slot->is_changed = false;
    const size_t count = array->blocks_per_row;
    const cjpeg_block *blocks = blocks_of(array, index);
    if (array->loaded & DC)
      keep(store, info, &array->dc[slot->row], cjpeg_pack_dc(store->scratch, blocks, count),
           count * CJPEG_PACKED_DC_MOST);
    if (array->loaded & AC)
      keep(store, info, &array->ac[slot->row],
           cjpeg_pack_ac(store->variant, store->scratch, blocks, count, array->kept),
           CJPEG_PACKED_AC_HEADER + count * CJPEG_PACKED_AC_MOST);
  }
  slot->is_used = false;
}

static void load(cjpeg_store *store, j_common_ptr info, block_rows *array, JDIMENSION index, JDIMENSION row) {
  const size_t count = array->blocks_per_row;
  cjpeg_block *blocks = blocks_of(array, index);
  if (array->loaded & AC) {
    if (fetch(store, info, &array->ac[row])) {
      cjpeg_unpack_ac(store->variant, store->scratch, blocks, count, array->kept);
    } else {
      memset(blocks, 0, count * sizeof *blocks);
    }
  }
  if (array->loaded & DC) {
    if (fetch(store, info, &array->dc[row])) {
      cjpeg_unpack_dc(store->scratch, blocks, count);
    } else {
      for (size_t i = 0; i < count; i++) blocks[i][0] = 0;
    }
  }
  array->slots[index] = (slot){.is_used = true, .row = row};
}

static void unload_all(cjpeg_store *store, j_common_ptr info, block_rows *array) {
  for (JDIMENSION i = 0; i < array->slots_used; i++) unload(store, info, array, i);
}

// In a progressive scan, coefficients outside its band are not looked at. A sequential header can say the same, and mean
// nothing by it.
static parts parts_of(const struct jpeg_decompress_struct *info, bool is_writing) {
  if (!is_writing || !info->progressive_mode) return ALL;
  return info->Ss == 0 ? info->Se == 0 ? DC : ALL : AC;
}

JBLOCKARRAY cjpeg_store_access(j_common_ptr info, jvirt_barray_ptr pointer, JDIMENSION first, JDIMENSION count,
                               boolean writable) {
  cjpeg_store *store = store_of(info);
  block_rows *array = (block_rows *)pointer;
  if (first >= array->row_count || count > array->most_accessed || count > array->row_count - first)
    cjpeg_escape(info, CJPEG_FAULT, "rows %u to %u of %u were asked for", first, first + count, array->row_count);
  JDIMENSION slots = array->rows_per_mcu;
  if (count > array->rows_per_mcu) {
    // For block smoothing: 2.1.5 reads a row of MCUs more than it asks for.
    slots = array->most_accessed;
    count += array->rows_per_mcu;
    if (count > slots) count = slots;
    if (count > array->row_count - first) count = array->row_count - first;
  }
  const parts wanted = parts_of((j_decompress_ptr)info, writable);
  if (wanted != array->loaded || slots != array->slots_used) {
    unload_all(store, info, array);
    array->loaded = wanted;
    array->slots_used = slots;
  }
  for (JDIMENSION i = 0; i < count; i++) {
    const JDIMENSION row = first + i, index = row % slots;
    slot *slot = &array->slots[index];
    if (!slot->is_used || slot->row != row) {
      unload(store, info, array, index);
      load(store, info, array, index, row);
    }
    if (writable) slot->is_changed = true;
    array->rows[i] = (JBLOCKROW)blocks_of(array, index);
  }
  // Never left pointing at nothing.
  for (JDIMENSION i = count; i < array->most_accessed; i++) array->rows[i] = array->rows[count - 1];
  return array->rows;
}
