# SPDX-License-Identifier: Apache-2.0
"""Shows that the scripts of tools/dev accept what is right and report what is wrong."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools", "dev"))

import check_docs  # noqa: E402
import check_layers  # noqa: E402
import check_symbols  # noqa: E402
import count_tests  # noqa: E402

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
CXX = os.environ.get("CXX", "g++")


class Layers(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def check(self, path, text, licence=LICENCE):
        """Violations of a tree that holds this one file."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(licence + text)
        found = check_layers.check(self.root)
        os.remove(full)
        return found

    def rejects(self, path, text, licence=LICENCE):
        found = self.check(path, text, licence)
        self.assertEqual(len(found), 1, (path, text, found))
        self.assertIn(path + ":", found[0])

    def accepts(self, path, text):
        self.assertEqual(self.check(path, text), [])

    def test_layers_include_downwards_only(self):
        self.accepts("src/runtime/a.cpp", '#include "plan/plan.h"\n#include "base/status.h"\n')
        self.accepts("src/compiler/a.cpp", '#include "runtime/engine.h"\n#include <vector>\n')
        self.accepts("src/base/a.cpp", '#include "kernels/common/kernel.h"\n')
        self.rejects("src/base/a.cpp", '#include "plan/plan.h"\n')
        self.rejects("src/plan/a.cpp", '#include "runtime/engine.h"\n')
        self.rejects("src/runtime/a.cpp", '#include "compiler/ir/graph.h"\n')
        self.rejects("src/compiler/a.cpp", '#include "tools/fritexec/x.h"\n')
        self.rejects("src/base/a.cpp", '#include "status.h"\n')
        self.accepts("tests/ops/a.cpp", '#include "build.h"\n')

    def test_kernels_see_only_kernels(self):
        self.accepts("kernels/cpu/ref/a.cpp", '#include "frit/types.h"\n#include <cmath>\n')
        self.accepts("kernels/cpu/fast/a.cpp", "#include <hwy/highway.h>\n")
        self.rejects("kernels/cpu/ref/a.cpp", '#include "base/status.h"\n')
        self.rejects("kernels/cpu/ref/a.cpp", '#include "frit/builder.h"\n')
        self.rejects("kernels/cpu/ref/a.cpp", "#include <hwy/highway.h>\n")

    def test_public_headers_are_free_of_third_parties(self):
        self.accepts("include/frit/a.h", '#pragma once\n#include "frit/types.h"\n#include <stdint.h>\n')
        self.rejects("include/frit/a.h", "#pragma once\n#include <fmt/core.h>\n")
        self.rejects("include/frit/a.h", "#pragma once\n#include <unistd.h>\n")
        self.rejects("include/frit/a.h", '#pragma once\n#include "base/status.h"\n')

    def test_third_party_headers_stay_in_their_folders(self):
        self.accepts("src/compiler/onnx/a.cpp", "#include <google/protobuf/message.h>\n")
        self.accepts("src/runtime/device/cuda/a.cpp", "#include <cuda.h>\n")
        self.rejects("src/compiler/ir/a.cpp", "#include <google/protobuf/message.h>\n")
        self.rejects("src/compiler/ir/a.cpp", '#include "onnx.pb.h"\n')
        self.rejects("src/runtime/a.cpp", "#include <cuda_runtime.h>\n")
        self.rejects("src/runtime/a.cpp", "#include <nlohmann/json.hpp>\n")
        self.rejects("src/compiler/a.cpp", "#include <CLI/CLI.hpp>\n")
        self.rejects("src/compiler/a.cpp", "#include <dnnl.hpp>\n")
        self.rejects("src/compiler/ir/a.cpp", "#include <flatbuffers/flatbuffers.h>\n")

    def test_form_of_files(self):
        self.accepts("src/base/a.cpp", "int x;\n" * 499)
        self.rejects("src/base/a.cpp", "int x;\n" * 500)
        self.accepts("kernels/cpu/a.cpp", "int x;\n" * 799)
        self.rejects("kernels/cpu/a.cpp", "int x;\n" * 800)
        self.accepts("src/base/a.cpp", "x" * 100 + "\n")
        self.rejects("src/base/a.cpp", "x" * 101 + "\n")
        self.accepts("src/base/a.cpp", 'auto s = R"(\n' + "x" * 101 + '\n)";\n')
        self.rejects("src/base/a.cpp", "int x;\n", licence="")
        self.rejects("src/base/a.h", "int x;\n")


class Docs(unittest.TestCase):
    def check(self, document):
        """Violations of a tree with this document and a small source to quote."""
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "docs"))
            os.makedirs(os.path.join(root, "examples"))
            with open(os.path.join(root, "examples", "a.cpp"), "w", encoding="utf-8") as file:
                file.write("int f() {\n  int a = 1;\n  return a;\n}\n")
            with open(os.path.join(root, "docs", "a.md"), "w", encoding="utf-8") as file:
                file.write(document)
            return check_docs.check(root)

    def test_quotations(self):
        quote = "<!-- quoted from examples/%s -->\n```cpp\n%s```\n"
        self.assertEqual(self.check(quote % ("a.cpp", "int a = 1;\nreturn a;\n")), [])
        self.assertEqual(len(self.check(quote % ("a.cpp", "int a = 1;\n}\n"))), 1)
        self.assertEqual(len(self.check(quote % ("b.cpp", "int a = 1;\n"))), 1)

    def test_links(self):
        self.assertEqual(self.check("[a](../examples/a.cpp) [b](https://example.com) `[c](d)`\n"), [])
        self.assertEqual(len(self.check("[a](../examples/b.cpp)\n")), 1)


class Symbols(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def library(self, source, *options):
        """Path of a shared library made from this source, with everything exported."""
        path = os.path.join(self.folder, "a.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        out = os.path.join(self.folder, "liba.so")
        subprocess.run([CXX, "-shared", "-fPIC", "-o", out, path, *options], check=True)
        return out

    def test_runtime_exports_the_c_abi_only(self):
        good = 'extern "C" int frit_version() { return 1; }\n'
        self.assertEqual(check_symbols.check_runtime(self.library(good)), [])
        for bad in ("int other() { return 1; }", 'extern "C" int other() { return 1; }',
                    "namespace frit { int open() { return 1; } }"):
            self.assertEqual(len(check_symbols.check_runtime(self.library(good + bad))), 1, bad)
        self.assertTrue(check_symbols.check_runtime(self.library("static int x;")))

    def test_runtime_holds_nothing_of_the_compiler(self):
        source = ('extern "C" int frit_version() { return 1; }\n'
                  'namespace frit::ir { __attribute__((visibility("hidden"), used)) int f() '
                  "{ return 1; } }\n")
        found = check_symbols.check_runtime(self.library(source))
        self.assertEqual(len(found), 1, found)
        self.assertIn("frit::ir::f", found[0])

    def test_runtime_is_small_and_needs_little(self):
        source = ('extern "C" const char frit_table[3 << 20] = {1};\n'
                  'extern "C" int frit_version() { return 1; }\n')
        found = check_symbols.check_runtime(self.library(source))
        self.assertEqual(len(found), 1, found)
        self.assertIn("bytes when stripped", found[0])
        dependency = os.path.join(self.folder, "libgomp.so")
        shutil.copy(self.library("int g() { return 1; }", "-Wl,-soname,libgomp.so.1"), dependency)
        found = check_symbols.check_runtime(self.library(
            'int g(); extern "C" int frit_version() { return g(); }', dependency))
        self.assertEqual(len(found), 1, found)
        self.assertIn("needs libgomp", found[0])

    def test_builder_exports_the_public_api_only(self):
        good = "namespace frit { struct B { virtual ~B(); }; B::~B() = default; }\n"
        self.assertEqual(check_symbols.check_builder(self.library(good)), [])
        for bad in ("namespace frit::ir { int f() { return 1; } }", "int f() { return 1; }",
                    "namespace google::protobuf { int f() { return 1; } }"):
            self.assertEqual(len(check_symbols.check_builder(self.library(good + bad))), 1, bad)


class Counting(unittest.TestCase):
    def count(self, entries, reports):
        """Counts for ctest entries {name: status} and GoogleTest reports {name: xml}."""
        with tempfile.TemporaryDirectory() as folder:
            junit = os.path.join(folder, "ctest.junit")
            with open(junit, "w", encoding="utf-8") as file:
                cases = "".join(f'<testcase name="{n}" status="{s}"/>' for n, s in entries.items())
                file.write(f"<testsuite>{cases}</testsuite>")
            for name, text in reports.items():
                with open(os.path.join(folder, name + ".xml"), "w", encoding="utf-8") as file:
                    file.write(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
            return count_tests.count(junit, folder)

    def test_cases_of_reports_and_plain_entries_add_up(self):
        report = ('<testcase name="a" status="run"/><testcase name="b" status="run"><failure/>'
                  '</testcase><testcase name="c" status="run"><skipped/></testcase>')
        self.assertEqual(self.count({"t": "fail", "script": "run"}, {"t": report}),
                         {"passed": 2, "failed": 1, "skipped": 1})

    def test_a_crash_counts_as_failure(self):
        self.assertEqual(self.count({"t": "fail"}, {})["failed"], 1)
        report = '<testcase name="a" status="run"/>'
        self.assertEqual(self.count({"t": "fail"}, {"t": report})["failed"], 1)


class Scripts(unittest.TestCase):
    def run_in_copy(self, script, source, *arguments):
        """Runs a script of tools/dev in a tree whose only source is src/base/a.cpp."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name in (".clang-format", ".clang-tidy"):
            shutil.copy(os.path.join(ROOT, name), folder)
        os.makedirs(os.path.join(folder, "tools", "dev"))
        os.makedirs(os.path.join(folder, "src", "base"))
        shutil.copy(os.path.join(ROOT, "tools", "dev", script), os.path.join(folder, "tools", "dev"))
        os.makedirs(os.path.join(folder, "build"))
        os.symlink(os.path.join(ROOT, "build", "venv"), os.path.join(folder, "build", "venv"))
        path = os.path.join(folder, "src", "base", "a.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        with open(os.path.join(folder, "build", "compile_commands.json"), "w", encoding="utf-8") as file:
            file.write('[\n{\n  "directory": "%s",\n  "command": "c++ -std=c++20 -c %s",\n'
                       '  "file": "%s"\n}\n]\n' % (folder, path, path))
        return subprocess.run(["bash", os.path.join("tools", "dev", script), *arguments], cwd=folder,
                              text=True, capture_output=True, check=False)

    @unittest.skipUnless(os.path.exists(os.path.join(ROOT, "build/venv/bin/clang-format")),
                         "clang-format is not installed")
    def test_format_reports_and_repairs(self):
        self.assertEqual(self.run_in_copy("format.sh", "int x = 1;\n", "--check").returncode, 0)
        self.assertEqual(self.run_in_copy("format.sh", "int   x=1 ;\n", "--check").returncode, 1)
        self.assertEqual(self.run_in_copy("format.sh", "int   x=1 ;\n").returncode, 0)

    @unittest.skipUnless(shutil.which("clang-tidy"), "clang-tidy is not installed")
    def test_tidy_reports(self):
        good = self.run_in_copy("tidy.sh", "int* p = nullptr;\n", "--build", "build")
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        self.assertIn("1 files clean", good.stdout)
        bad = self.run_in_copy("tidy.sh", "int* p = 0;\n", "--build", "build")
        self.assertEqual(bad.returncode, 1, bad.stdout + bad.stderr)
        self.assertIn("modernize-use-nullptr", bad.stdout)


if __name__ == "__main__":
    unittest.main()
