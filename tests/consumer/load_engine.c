/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the engine of make_engine, runs it and compares with the values worked out by hand. */
#include <stdio.h>

#include "frit/runtime_c.h"

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, frit_last_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;

  frit_engine* engine = NULL;
  if (frit_engine_load_file("there is no such file", NULL, &engine) == FRIT_OK)
    return fail("loading a missing file succeeded");
  if (frit_engine_load_file(argv[1], NULL, &engine) != FRIT_OK) return fail("load");

  frit_context* context = NULL;
  if (frit_context_create(engine, NULL, &context) != FRIT_OK) return fail("context");

  float x[4] = {-1.0F, 1.0F, 2.0F, 5.0F};
  float y[4] = {0};
  const float expected[4] = {0.0F, 0.0F, 1.0F, 7.0F};
  if (frit_context_set_address(context, frit_engine_find_binding(engine, "x"), x, sizeof x) !=
      FRIT_OK)
    return fail("x");
  if (frit_context_set_address(context, frit_engine_find_binding(engine, "y"), y, sizeof y) !=
      FRIT_OK)
    return fail("y");
  if (frit_context_enqueue(context, NULL) != FRIT_OK) return fail("enqueue");

  for (int i = 0; i < 4; ++i) {
    if (y[i] != expected[i]) {
      fprintf(stderr, "y[%d] is %g, expected %g\n", i, (double)y[i], (double)expected[i]);
      return 1;
    }
  }
  frit_context_destroy(context);
  frit_engine_destroy(engine);
  return 0;
}
