#include "inflater.h"

#include <string.h>

#include "isal.h"

#if CPNG_BUILT_WITH_ISAL && defined(PNG_IGNORE_ADLER32) && defined(PNG_SEQUENTIAL_READ_SUPPORTED)

// A stored block's bytes at most, what is before it in the first chunk, and behind it in the last.
enum {
  INPUT = 32 << 10,
  BLOCK = 32 << 10,
  FRONT = 8 + 2 + 5,
  BACK = 5 + 4 + 1 + 4,
  MOST_ENDS = 64,
};

// What comes when the input that is in has been inflated.
typedef enum { MORE, OTHER_CHUNK, END_OF_FILE, READ_FAILURE, WRONG_CRC } following;

typedef enum { HEADER, DATA, TRAILER, DONE } stage;

struct cpng_inflater {
  const cpng_isal *library;
  bool salvages;
  stage stage;
  following following;
  bool has_begun;       // the first chunk's beginning has been read
  bool has_told;        // zlib has been given its header
  bool has_more;        // the last call of the library may have left output behind
  uint64_t room;        // bytes of the picture that have not been inflated
  uint8_t header[2];
  int header_count, trailer_left;
  uint32_t chunk_left, crc;  // of the chunk being read
  // Places in the compressed data: where the input ends, where the chunk being read begins, and where those end that have been
  // read since the input was empty.
  uint64_t input_end, chunk_start, ends[MOST_ENDS];
  int end_count;
  uint32_t damaged;     // chunks with a wrong checksum, not told before what they hold has been used
  uint64_t end;         // of the stream, when it is done
  struct inflate_state state;
  uint8_t input[INPUT];
  uint8_t output[FRONT + BLOCK + BACK];
};

cpng_inflater *cpng_inflater_create(cpng_memory *memory, uint64_t size, bool salvages) {
  const cpng_isal *const library = cpng_get_isal();
  if (!library || memory->limit < memory->held || memory->limit - memory->held < cpng_inflater_bytes()) return NULL;
  cpng_inflater *const inflater = cpng_allocate(memory, sizeof *inflater);
  if (!inflater) return NULL;
  // The library's state and the buffers are left as they are: pages that are not needed are not touched.
  memset(inflater, 0, offsetof(cpng_inflater, state));
  library->inflate_init(&inflater->state);
  inflater->state.hist_bits = 0;
  inflater->library = library;
  inflater->salvages = salvages;
  inflater->room = size;
  return inflater;
}

size_t cpng_inflater_bytes(void) { return sizeof(cpng_inflater) + cpng_inflater_chunk_bytes() + 64; }

size_t cpng_inflater_chunk_bytes(void) { return FRONT + BLOCK + BACK; }

// MARK: Input

static void begin_chunk(cpng_inflater *inflater, const cpng_chunks *chunks) {
  inflater->chunk_left = cpng_big_endian(chunks->head);
  inflater->chunk_start = inflater->input_end;
  inflater->crc = inflater->library->crc32(0, chunks->head + 4, 4);
}

static following failure(int status) { return status == 0 ? END_OF_FILE : READ_FAILURE; }

// Reads the checksum of the chunk whose data have been read.
static following check_chunk(cpng_inflater *inflater, cpng_chunks *chunks) {
  uint8_t crc[4];
  const int status = cpng_chunks_fill(chunks, crc, sizeof crc);
  if (status <= 0) return failure(status);
  if (cpng_big_endian(crc) == inflater->crc) return MORE;
  if (!inflater->salvages) return WRONG_CRC;
  inflater->damaged++;
  return MORE;
}

static following next_chunk(cpng_inflater *inflater, cpng_chunks *chunks) {
  if (inflater->has_begun) {
    const following found = check_chunk(inflater, chunks);
    if (found != MORE) return found;
    if (inflater->chunk_start < inflater->input_end) inflater->ends[inflater->end_count++] = inflater->input_end;
    const int status = cpng_chunks_read_head(chunks);
    if (status <= 0) return failure(status);
  }
  inflater->has_begun = true;
  chunks->is_held_back = true;
  // What is wrong with a length, libpng says.
  if (!cpng_chunks_is_data(chunks) || cpng_big_endian(chunks->head) > INT32_MAX) return OTHER_CHUNK;
  chunks->is_held_back = false;
  begin_chunk(inflater, chunks);
  return MORE;
}

static void tell_damaged(cpng_inflater *inflater, cpng_chunks *chunks) {
  chunks->damaged_data += inflater->damaged;
  inflater->damaged = 0;
}

// Reads more of the compressed data, across chunks, when all that was in has been taken; false where there are none.
static bool refill(cpng_inflater *inflater, cpng_chunks *chunks) {
  struct inflate_state *const state = &inflater->state;
  size_t count = 0;
  inflater->end_count = 0;
  tell_damaged(inflater, chunks);
  while (count < INPUT && inflater->end_count < MOST_ENDS && inflater->following == MORE) {
    if (inflater->chunk_left == 0) {
      inflater->following = next_chunk(inflater, chunks);
      continue;
    }
    const size_t most = inflater->chunk_left < INPUT - count ? inflater->chunk_left : INPUT - count;
    const ptrdiff_t got = chunks->source.read(chunks->source.context, inflater->input + count, most);
    if (got <= 0) {
      inflater->following = failure((int)got);
      break;
    }
    inflater->crc = inflater->library->crc32(inflater->crc, inflater->input + count, (uint64_t)got);
    inflater->chunk_left -= (uint32_t)got;
    inflater->input_end += (uint64_t)got;
    chunks->position += (uint64_t)got;
    count += (size_t)got;
  }
  state->next_in = inflater->input;
  state->avail_in = (uint32_t)count;
  return count > 0;
}

static bool has_input(cpng_inflater *inflater, cpng_chunks *chunks) {
  return inflater->state.avail_in > 0 || refill(inflater, chunks);
}

// MARK: Inflating

// The header of a zlib stream (RFC 1950, 2.2), in the words of zlib and libpng.
static void read_header(cpng_inflater *inflater, cpng_chunks *chunks) {
  struct inflate_state *const state = &inflater->state;
  inflater->header[inflater->header_count++] = *state->next_in++;
  state->avail_in--;
  if (inflater->header_count < 2) return;
  const unsigned method = inflater->header[0], flags = inflater->header[1];
  inflater->stage = DATA;
  if (method >> 4 > 7) {
    chunks->fault = "IDAT: invalid window size";
  } else if ((method << 8 | flags) % 31 != 0) {
    chunks->fault = "IDAT: incorrect header check";
  } else if ((method & 15) != 8) {
    chunks->fault = "IDAT: unknown compression method";
  } else if (flags & 0x20) {
    chunks->fault = "IDAT: missing dictionary";
  }
}

// Whole bytes that the library has taken and not used.
static uint32_t unused(const struct inflate_state *state) {
  return state->read_in_length > 0 ? (uint32_t)state->read_in_length / 8 : 0;
}

static size_t inflate_part(cpng_inflater *inflater, cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  struct inflate_state *const state = &inflater->state;
  const uint32_t before = state->avail_in;
  // The library counts in 32 bits, and compares distances with that.
  if (state->total_out > (uint32_t)1 << 30) state->total_out = 1 << 20;
  state->next_out = buffer;
  state->avail_out = (uint32_t)count;
  const int result = inflater->library->inflate(state);
  const size_t done = count - state->avail_out;
  inflater->has_more = state->avail_out == 0;
  if (result != ISAL_DECOMP_OK || (done == 0 && state->avail_in == before && before > 0 &&
                                   state->block_state != ISAL_BLOCK_FINISH)) {
    chunks->fault = result == ISAL_INVALID_BLOCK      ? "IDAT: invalid block"
                    : result == ISAL_INVALID_LOOKBACK ? "IDAT: invalid distance too far back"
                                                      : "IDAT: invalid code";
  } else if (state->block_state == ISAL_BLOCK_FINISH) {
    const uint32_t held = unused(state);
    inflater->stage = TRAILER;
    inflater->trailer_left = held < 4 ? 4 - (int)held : 0;
    inflater->end = inflater->input_end - state->avail_in - held + 4;
  }
  return done;
}

// Bytes that were inflated before the fault and did not fit then.
static size_t take_rest(cpng_inflater *inflater, uint8_t *buffer, size_t count) {
  struct inflate_state *const state = &inflater->state;
  const int32_t rest = (int32_t)(state->tmp_out_valid - state->tmp_out_processed);
  if (inflater->stage != DATA || rest <= 0) return 0;
  const size_t done = (size_t)rest < count ? (size_t)rest : count;
  memcpy(buffer, state->tmp_out_buffer + state->tmp_out_processed, done);
  state->tmp_out_processed += (int32_t)done;
  return done;
}

// Up to `count` bytes; fewer only at the stream's end, a fault or where the input ends.
static size_t inflate_bytes(cpng_inflater *inflater, cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  struct inflate_state *const state = &inflater->state;
  size_t done = 0;
  while (done < count && inflater->stage != DONE && !chunks->fault) {
    const bool needs_input = inflater->stage != DATA || !inflater->has_more;
    if (inflater->stage == TRAILER && inflater->trailer_left == 0) {
      inflater->stage = DONE;
    } else if (needs_input && !has_input(inflater, chunks)) {
      break;
    } else if (inflater->stage == HEADER) {
      read_header(inflater, chunks);
    } else if (inflater->stage == DATA) {
      done += inflate_part(inflater, chunks, buffer + done, count - done);
    } else {
      state->next_in++;
      state->avail_in--;
      inflater->trailer_left--;
    }
  }
  if (chunks->fault) done += take_rest(inflater, buffer + done, count - done);
  return done;
}

// Whether the chunk in which the stream ends has data behind it.
static bool has_extra_data(const cpng_inflater *inflater) {
  for (int i = 0; i < inflater->end_count; i++) {
    if (inflater->end <= inflater->ends[i]) return inflater->end < inflater->ends[i];
  }
  return inflater->end < inflater->input_end + inflater->chunk_left;
}

// MARK: Output

static void store_big_endian(uint8_t *bytes, size_t value) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint8_t *store_block_head(uint8_t *bytes, size_t count, bool is_last) {
  bytes[0] = is_last;
  bytes[1] = (uint8_t)count;
  bytes[2] = (uint8_t)(count >> 8);
  bytes[3] = (uint8_t)~bytes[1];
  bytes[4] = (uint8_t)~bytes[2];
  return bytes + 5;
}

// Makes a chunk of the block that lies in the output, and of what follows it.
static void hand_out(cpng_inflater *inflater, cpng_chunks *chunks, size_t count, bool is_last) {
  const size_t front = inflater->has_told ? FRONT - 2 : FRONT;
  uint8_t *const start = inflater->output + FRONT - front;
  uint8_t *end = start + 8;
  if (!inflater->has_told) {
    // The smallest window, since stored blocks need none: zlib copies what it inflates into its window.
    *end++ = 0x08;
    *end++ = 0x1D;
    inflater->has_told = true;
  }
  if (count > 0) end = store_block_head(end, count, false) + count;
  if (is_last) {
    end = store_block_head(end, 0, true);
    store_big_endian(end, 1);
    end += 4;
    if (has_extra_data(inflater)) *end++ = 0;
  } else if (count == 0) {
    // A block of a type that there is not: libpng is to find the fault.
    *end++ = 0x07;
  }
  store_big_endian(start, (size_t)(end - start) - 8);
  memcpy(start + 4, "IDAT", 4);
  store_big_endian(end, 0);
  chunks->ready = start;
  chunks->ready_left = (size_t)(end + 4 - start);
}

static int pass_on(cpng_chunks *chunks) {
  chunks->inflater = NULL;
  if (!chunks->is_held_back) {
    const int status = cpng_chunks_read_head(chunks);
    if (status <= 0) return status;
  }
  cpng_chunks_hand_out(chunks);
  return 1;
}

int cpng_inflater_next(cpng_inflater *inflater, cpng_chunks *chunks) {
  if (inflater->stage == DONE) {
    const int status = cpng_inflater_end(inflater, chunks);
    return status > 0 ? pass_on(chunks) : status;
  }
  // When all rows are in, one byte more says whether there are more.
  const size_t most = inflater->room == 0 ? 1 : inflater->room < BLOCK ? (size_t)inflater->room : BLOCK;
  const size_t count = inflate_bytes(inflater, chunks, inflater->output + FRONT, most);
  const bool is_too_much = inflater->room == 0 && count > 0;
  inflater->room -= is_too_much ? 0 : count;
  if (count == 0 && inflater->stage != DONE && !chunks->fault) {
    chunks->has_wrong_data = inflater->following == WRONG_CRC;
    if (inflater->following == OTHER_CHUNK) return pass_on(chunks);
    return inflater->following == END_OF_FILE ? 0 : -1;
  }
  if (is_too_much) {
    inflater->stage = DONE;
    inflater->end = inflater->input_end;
  }
  hand_out(inflater, chunks, count, inflater->stage == DONE);
  return 1;
}

int cpng_inflater_end(cpng_inflater *inflater, cpng_chunks *chunks) {
  uint8_t block[4096];
  chunks->inflater = NULL;
  while (inflater->following == MORE && inflater->chunk_left > 0) {
    const size_t part = inflater->chunk_left < sizeof block ? inflater->chunk_left : sizeof block;
    const int status = cpng_chunks_fill(chunks, block, part);
    if (status <= 0) return status;
    inflater->crc = inflater->library->crc32(inflater->crc, block, part);
    inflater->chunk_left -= (uint32_t)part;
  }
  if (inflater->following == MORE && inflater->has_begun) inflater->following = check_chunk(inflater, chunks);
  tell_damaged(inflater, chunks);
  const bool is_behind = inflater->stage == DONE && inflater->end <= inflater->chunk_start;
  chunks->has_wrong_data = inflater->following == WRONG_CRC && !is_behind;
  if (inflater->following == READ_FAILURE || chunks->has_wrong_data) return -1;
  return inflater->following == MORE || inflater->following == OTHER_CHUNK ? 1 : 0;
}

#else

cpng_inflater *cpng_inflater_create(cpng_memory *memory, uint64_t size, bool salvages) {
  (void)memory;
  (void)size;
  (void)salvages;
  return NULL;
}

size_t cpng_inflater_bytes(void) { return 0; }

size_t cpng_inflater_chunk_bytes(void) { return 0; }

int cpng_inflater_next(cpng_inflater *inflater, cpng_chunks *chunks) {
  (void)inflater;
  (void)chunks;
  return -1;
}

int cpng_inflater_end(cpng_inflater *inflater, cpng_chunks *chunks) {
  (void)inflater;
  (void)chunks;
  return -1;
}

#endif
