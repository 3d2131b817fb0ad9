"""The commands of README's "Many devices" do what stands beside them."""

import dltools

from . import readme, support


class ManyDevices(support.ToolTest):
    def test_commands(self):
        readme.write_divided_model(self.folder)
        ran = 0
        for tool, *words in readme.commands("Many devices"):
            if "-np" in words:
                continue  # test/mpi
            with self.subTest(" ".join([tool, *words])):
                few = ["--steps", "2"] if tool == "dlrun" else []
                result = dltools.call([getattr(dltools, tool.upper()), *words, *few], self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn("warning", result.stderr) # of an axis that nothing uses, say
                if "--report" in words:
                    self.assertRegex(result.stdout, r"net\.dl:\d+:\d+: .*sum.* bytes")
            ran += 1
        self.assertGreaterEqual(ran, 4)


if __name__ == "__main__":
    support.unittest.main()
