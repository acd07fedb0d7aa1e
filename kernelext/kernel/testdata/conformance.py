"""The conformance suite of the Jupyter project, jupyter_kernel_test, for the
kernel of the name in the environment variable KERNEL."""

import os
import time
import unittest

import jupyter_kernel_test


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = os.environ["KERNEL"]
    language_name = "go"
    file_extension = ".go"
    code_hello_world = '%%\nfmt.Println("hello, world")'
    code_stderr = '%%\nfmt.Fprintln(os.Stderr, "oops")'
    code_generate_error = "%cd no-such-folder"
    completion_samples = [
        {"text": "%hm sto", "matches": {"stop"}},
        {"text": "%%\nfmt.Printl", "matches": {"Println", "Sprintln", "Fprintln"}},
    ]
    complete_code_samples = ["func twice(x int) int {\n    return 2 * x\n}", "%%\nfmt.Println(1)", "%hm runs", "!ls"]
    incomplete_code_samples = ["func twice(x int) int {", "%%", "%%\nfmt.Println(", "import (", "/* a", "!ls \\"]
    invalid_code_samples = ["func 1", "%%\n)"]
    code_inspect_sample = "%hm stop"
    code_display_data = [
        {
            "code": 'import "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("<b>bold</b>")\ngonbui.Sync()',
            "mime": "text/html",
        }
    ]

    @classmethod
    def setUpClass(cls):
        """Start the kernel, and wait until gopls, which reads the library first, completes: until then
        GoNB answers with an error."""
        super().setUpClass()
        end = time.monotonic() + 120
        while time.monotonic() < end:
            asked = cls.kc.complete(cls.completion_samples[1]["text"])
            reply = cls.kc.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == asked and reply["content"].get("matches"):
                return
            time.sleep(0.2)
        raise TimeoutError("gopls completes nothing after two minutes")

    def test_faults_of_gonb(self):
        """The project's GoNB keeps methods of generic types apart, removes a type with its methods, takes no
        variable for a package clause, and finds gonbui."""
        for cell in (
            "type A[T any] struct{ x T }\nfunc (a A[T]) Get() T { return a.x }",
            "type B[T any] struct{ x T }\nfunc (b B[T]) Get() T { return b.x }",
            "%%\nfmt.Println(A[int]{1}.Get(), B[int]{2}.Get())",
            "%rm A B",
            '%%\nfmt.Println("neither")',
            "%%\npackages := 3\nfmt.Println(packages)",
            'import "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("<b>bold</b>")\ngonbui.Sync()',
        ):
            self.flush_channels()
            reply, _ = self.execute_helper(code=cell, timeout=60)
            self.assertEqual(reply["content"]["status"], "ok", (cell, reply["content"]))


if __name__ == "__main__":
    unittest.main()
