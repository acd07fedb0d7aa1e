"""The conformance suite of the Jupyter project, jupyter_kernel_test, for the
kernel of the name in the environment variable KERNEL."""

import os
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
    code_inspect_sample = "%hm stop"
    code_display_data = [
        {
            "code": '%noautoget\nimport "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("<b>bold</b>")\ngonbui.Sync()',
            "mime": "text/html",
        }
    ]


if __name__ == "__main__":
    unittest.main()
