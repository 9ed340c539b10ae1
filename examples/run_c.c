/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine from C:  example_run_c ENGINE
 * Inputs are zeros; the time of every step goes to stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "frit/runtime_c.h"

static int report(const char* doing, frit_status status) {
  fprintf(stderr, "%s: %s: %s\n", doing, frit_status_name(status), frit_last_error());
  return 1;
}

/* Binds zeroed memory to every binding; memory[i] belongs to the caller. */
static int bind_all(const frit_engine* engine, frit_context* context, int32_t count,
                    void** memory) {
  for (int32_t b = 0; b < count; ++b) {
    frit_binding_info info = {.size = sizeof info};
    frit_status status = frit_engine_get_binding(engine, b, &info);
    if (status != FRIT_OK) return report("binding", status);
    memory[b] = calloc(info.bytes > 0 ? info.bytes : 1, 1);
    if (memory[b] == NULL) {
      fprintf(stderr, "no memory for %s\n", info.name);
      return 1;
    }
    status = frit_context_set_address(context, b, memory[b], info.bytes);
    if (status != FRIT_OK) return report(info.name, status);
  }
  return 0;
}

static int run(const frit_engine* engine, frit_context* context, int32_t binding_count,
               void** memory) {
  if (bind_all(engine, context, binding_count, memory) != 0) return 1;
  frit_status status = frit_context_enqueue(context, NULL);
  if (status != FRIT_OK) return report("run", status);

  const frit_step_profile* times = NULL;
  int32_t steps = 0;
  status = frit_context_get_profile(context, &times, &steps);
  if (status != FRIT_OK) return report("times", status);
  for (int32_t s = 0; s < steps; ++s) {
    frit_step_info step = {.size = sizeof step};
    if (frit_engine_get_step(engine, s, &step) == FRIT_OK)
      printf("%9.1f us  %s (%s)\n", (double)times[s].last_ns / 1000.0, step.name, step.kernel);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s ENGINE\n", argv[0]);
    return 2;
  }
  frit_engine* engine = NULL;
  frit_status status = frit_engine_load_file(argv[1], NULL, &engine);
  if (status != FRIT_OK) return report("load", status);

  frit_engine_info info = {.size = sizeof info};
  frit_context_options options = {.size = sizeof options, .profile_steps = 1};
  frit_context* context = NULL;
  void** memory = NULL;
  int failed = 1;
  if ((status = frit_engine_get_info(engine, &info)) != FRIT_OK) {
    report("info", status);
  } else if ((status = frit_context_create(engine, &options, &context)) != FRIT_OK) {
    report("context", status);
  } else if ((memory = calloc((size_t)info.binding_count + 1, sizeof *memory)) == NULL) {
    fprintf(stderr, "no memory for the bindings\n");
  } else {
    failed = run(engine, context, info.binding_count, memory);
  }
  frit_context_destroy(context);
  for (int32_t b = 0; memory != NULL && b < info.binding_count; ++b) free(memory[b]);
  free(memory);
  frit_engine_destroy(engine);
  return failed;
}
