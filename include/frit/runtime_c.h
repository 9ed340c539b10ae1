/* SPDX-License-Identifier: Apache-2.0 */
/* The C ABI of the runtime: load an engine, bind memory, run it.
 *
 * Every function that can fail returns a status (0 = FRIT_OK); frit_last_error() then holds the
 * message of the calling thread. Option and info structs begin with `size`: set it to
 * sizeof(the struct) before the call, so that older programs keep working with newer libraries.
 * An engine may be used by any number of threads at once; a context by one thread at a time.
 * Strings and arrays returned by the library belong to the object they were asked from. */
#ifndef FRIT_RUNTIME_C_H
#define FRIT_RUNTIME_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(FRIT_RUNTIME_EXPORTS)
#define FRIT_API __attribute__((visibility("default")))
#else
#define FRIT_API
#endif

#ifdef __cplusplus
#define FRIT_NOEXCEPT noexcept
extern "C" {
#else
#define FRIT_NOEXCEPT
#endif

typedef struct frit_engine frit_engine;
typedef struct frit_context frit_context;

/* Status codes: the values of frit::Code. */
typedef int32_t frit_status;
enum {
  FRIT_OK = 0,
  FRIT_INVALID_ARGUMENT = 1,
  FRIT_INVALID_MODEL = 2,
  FRIT_UNSUPPORTED = 3,
  FRIT_INVALID_ENGINE = 4,
  FRIT_NOT_FOUND = 5,
  FRIT_OUT_OF_MEMORY = 6,
  FRIT_IO_ERROR = 7,
  FRIT_SHAPE_MISMATCH = 8,
  FRIT_EXECUTION_FAILED = 9,
  FRIT_VERIFICATION_FAILED = 10,
  FRIT_CANCELLED = 11,
  FRIT_INTERNAL = 12
};

enum { FRIT_LOG_ERROR = 0, FRIT_LOG_WARNING = 1, FRIT_LOG_INFO = 2, FRIT_LOG_VERBOSE = 3 };

/* ---- library; callable from any thread ---- */

/* "major.minor.patch" of the library. */
FRIT_API const char* frit_version(void) FRIT_NOEXCEPT;

/* Message of the last failed call of this thread; "" if none. Valid until its next failing call. */
FRIT_API const char* frit_last_error(void) FRIT_NOEXCEPT;

/* Lower-case name of a status ("invalid_engine"). */
FRIT_API const char* frit_status_name(frit_status status) FRIT_NOEXCEPT;

/* Short name of an element type ("f32"), bits of one element (0 for string and unknown types). */
FRIT_API const char* frit_dtype_name(int32_t dtype) FRIT_NOEXCEPT;
FRIT_API int32_t frit_dtype_bits(int32_t dtype) FRIT_NOEXCEPT;

/* Receives log lines of at most `level`; null restores printing to stderr. Calls are serialized. */
typedef void (*frit_log_callback)(void* user, int32_t level, const char* message);
FRIT_API void frit_set_log(frit_log_callback callback, void* user, int32_t level) FRIT_NOEXCEPT;

/* ---- engine; functions on a loaded engine are callable from any thread ---- */

typedef struct frit_engine_options {
  size_t size;
  int32_t cpu_threads;    /* threads of the engine's pool, caller included; 0 = all processors */
  int32_t skip_checksums; /* 1: trust weights and code (metadata is always checked) */
  const char* module_dir; /* where libfrit_<module>.so lie; null = beside this library */
  int32_t borrow_memory;  /* 1: load_memory uses the data in place; see there */
} frit_engine_options;

/* Maps and verifies an engine file; `options` may be null. */
FRIT_API frit_status frit_engine_load_file(const char* path, const frit_engine_options* options,
                                           frit_engine** engine) FRIT_NOEXCEPT;

/* Loads from memory, of which it makes a copy. With borrow_memory the data is used where it is: it
 * must be aligned to 256 bytes and outlive the engine and its contexts, unchanged. */
FRIT_API frit_status frit_engine_load_memory(const void* data, size_t bytes,
                                             const frit_engine_options* options,
                                             frit_engine** engine) FRIT_NOEXCEPT;

/* Releases the engine; contexts made from it keep what they need alive. Null is allowed. */
FRIT_API void frit_engine_destroy(frit_engine* engine) FRIT_NOEXCEPT;

typedef struct frit_engine_info {
  size_t size;
  const char* name;
  const char* backend;
  const char* target;
  const char* producer;
  const char* build_info;
  uint16_t format_major;
  uint16_t format_minor;
  int32_t binding_count;
  int32_t profile_count;
  int32_t step_count; /* nested steps included */
  int32_t cpu_threads;
  uint64_t fingerprint; /* hash of the file */
  uint64_t weights_bytes;
  uint64_t arena_bytes;       /* activations of one context, as planned */
  uint64_t context_bytes;     /* all memory of one context */
  int32_t verification_count; /* outputs whose errors were measured at build */
} frit_engine_info;
FRIT_API frit_status frit_engine_get_info(const frit_engine* engine,
                                          frit_engine_info* info) FRIT_NOEXCEPT;

typedef struct frit_binding_info {
  size_t size;
  const char* name;
  int32_t dtype; /* number of ONNX's TensorProto.DataType */
  int32_t rank;
  const int64_t* dims; /* -1 where the dim depends on the input shapes */
  int32_t is_input;
  int32_t is_shape; /* values determine shapes */
  uint64_t bytes;   /* at the largest shape */
} frit_binding_info;
FRIT_API frit_status frit_engine_get_binding(const frit_engine* engine, int32_t index,
                                             frit_binding_info* info) FRIT_NOEXCEPT;

/* Index of the binding of that name, -1 if there is none. */
FRIT_API int32_t frit_engine_find_binding(const frit_engine* engine,
                                          const char* name) FRIT_NOEXCEPT;

/* Dims of input `binding` in profile `profile`; which: 0 min, 1 opt, 2 max. */
FRIT_API frit_status frit_engine_get_profile(const frit_engine* engine, int32_t profile,
                                             int32_t binding, int32_t which, const int64_t** dims,
                                             int32_t* rank) FRIT_NOEXCEPT;

typedef struct frit_step_info {
  size_t size;
  const char* name;
  const char* kind;   /* "kernel", "copy", ... */
  const char* module; /* "" = built in */
  const char* kernel;
  int32_t origin_count;
  const char* const* origins; /* names of the ONNX nodes it computes */
} frit_step_info;
FRIT_API frit_status frit_engine_get_step(const frit_engine* engine, int32_t index,
                                          frit_step_info* info) FRIT_NOEXCEPT;

typedef struct frit_verification_info {
  size_t size;
  const char* output;
  const char* covered; /* what was compared, in words */
  double max_abs_error;
  double max_rel_error;
  double atol;
  double rtol;
  int32_t passed;
} frit_verification_info;
FRIT_API frit_status frit_engine_get_verification(const frit_engine* engine, int32_t index,
                                                  frit_verification_info* info) FRIT_NOEXCEPT;

/* ---- context; one thread at a time ---- */

typedef struct frit_context_options {
  size_t size;
  int32_t profile;       /* profile of input shapes to run with */
  int32_t profile_steps; /* 1: record the time of every step */
  void* memory;          /* activations: `context_bytes` of host memory aligned to 64 that the */
                         /* caller owns, e.g. one block for contexts that never run at once; */
                         /* null = the context allocates its own */
  uint64_t memory_bytes;
} frit_context_options;

/* Makes a context with its own activation memory; `options` may be null. */
FRIT_API frit_status frit_context_create(frit_engine* engine, const frit_context_options* options,
                                         frit_context** context) FRIT_NOEXCEPT;
FRIT_API void frit_context_destroy(frit_context* context) FRIT_NOEXCEPT;

/* Sets the dims of an input; refused with FRIT_SHAPE_MISMATCH outside the profile. */
FRIT_API frit_status frit_context_set_input_shape(frit_context* context, int32_t binding,
                                                  const int64_t* dims, int32_t rank) FRIT_NOEXCEPT;

/* Dims of a binding under the input shapes set so far. */
FRIT_API frit_status frit_context_get_shape(const frit_context* context, int32_t binding,
                                            const int64_t** dims, int32_t* rank) FRIT_NOEXCEPT;

/* Gives host memory to a binding: dense, row-major, at least as large as the binding's bytes, owned
 * by the caller and untouched by others while a run is under way. Used in place when aligned to the
 * element size, else copied through a buffer of the context. */
FRIT_API frit_status frit_context_set_address(frit_context* context, int32_t binding, void* address,
                                              uint64_t bytes) FRIT_NOEXCEPT;

/* Runs the engine. On the CPU `stream` must be null and the outputs are complete on return. Does
 * not allocate, lock or throw. */
FRIT_API frit_status frit_context_enqueue(frit_context* context, void* stream) FRIT_NOEXCEPT;

/* Waits for everything enqueued (nothing to do on the CPU). */
FRIT_API frit_status frit_context_synchronize(frit_context* context) FRIT_NOEXCEPT;

typedef struct frit_step_profile {
  uint64_t calls;
  uint64_t last_ns;
  uint64_t total_ns;
} frit_step_profile;

/* Times of every step since creation or the last reset, in the order of frit_engine_get_step; the
 * context must have been made with profile_steps. */
FRIT_API frit_status frit_context_get_profile(const frit_context* context,
                                              const frit_step_profile** steps,
                                              int32_t* count) FRIT_NOEXCEPT;
FRIT_API frit_status frit_context_reset_profile(frit_context* context) FRIT_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
