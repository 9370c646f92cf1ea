"""The official TypeScript client lists the tools and calls them. tests/run.sh fetches it by package-lock.json."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness

MODULES = pathlib.Path(os.environ.get("ASG_E2E_MODULES", harness.ROOT / "build" / "e2e" / "node_modules"))


def node():
    """The Node that came with the client, or that of the machine."""
    return next(iter(sorted(MODULES.glob("node-linux-*/bin/node"))), None) or shutil.which("node")


class TypeScriptClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (MODULES / "@modelcontextprotocol" / "sdk").is_dir() or node() is None:
            harness.skip_file(f"no client in {MODULES}; tests/run.sh e2e fetches it")
        with harness.Server() as server, tempfile.TemporaryDirectory() as folder:
            # Beside node_modules, as an import is resolved from where the file is.
            os.symlink(MODULES.resolve(), pathlib.Path(folder, "node_modules"))
            script = shutil.copy(pathlib.Path(__file__).with_name("ts_client.mjs"), folder)
            run = subprocess.run([node(), script, f"http://{server.address[0]}:{server.address[1]}/mcp"], capture_output=True,
                                 text=True, timeout=harness.stretched(90), check=False)
        if run.returncode != 0:
            raise AssertionError(f"the client ended with {run.returncode}:\n{run.stdout}\n{run.stderr}")
        cls.said = json.loads(run.stdout)

    def test_the_server_is_named(self):
        self.assertEqual(self.said["server"]["name"], "asg-sandbox")

    def test_tools_are_listed(self):
        tool = next(tool for tool in self.said["tools"] if tool["name"] == "sandbox_execute")
        self.assertEqual(sorted(tool["inputSchema"]["required"]), ["code", "language"])
        self.assertTrue(tool["description"])

    def test_results_come_in_both_shapes(self):
        for answer, stdout, status in (("python", "12.0\n", 0), ("javascript", "42\n", 0), ("failed", "", 3), ("after", "after\n", 0)):
            result = self.said[answer]
            self.assertFalse(result["isError"], result)
            self.assertEqual((result["structuredContent"]["stdout"], result["structuredContent"]["exit_code"]), (stdout, status))
            self.assertEqual(result["stdout"], stdout)  # the keys of the product page, at the top level
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])

    def test_files_come_as_images_and_resources(self):
        result = self.said["picture"]
        files = {file["path"]: file for file in result["structuredContent"]["files"]}
        self.assertEqual((sorted(files), files["note.txt"]["content"]), (["in.png", "note.txt", "out.png"], "done"), result)
        blocks = [block for block in result["content"] if block["type"] == "image"]
        self.assertEqual([(block["mimeType"], block["data"]) for block in blocks],
                         [("image/png", files[path]["content"]) for path in ("in.png", "out.png")])
        self.assertEqual([block["resource"] for block in result["content"] if block["type"] == "resource"],
                         [{"uri": "file:///workspace/note.txt", "mimeType": "text/plain", "text": "done"}])

    def test_refusals_are_answers_that_a_model_can_read(self):
        self.assertTrue(self.said["refused"]["isError"])
        self.assertIn("language", self.said["refused"]["content"][0]["text"])

    def test_aborting_and_progress(self):
        self.assertEqual(self.said["aborted"], "aborted")
        self.assertEqual(self.said["progress"], sorted(set(self.said["progress"])))
        self.assertEqual(self.said["slow"]["structuredContent"]["stdout"], "1\n")


if __name__ == "__main__":
    unittest.main()
