"""Tests of what the benchmarks work out from their measurements. No program is started and nothing is measured."""

import unittest
import xml.etree.ElementTree

from harness import figures, plot


def tool(role, wall, cpu=None, peak=10.0):
    values = {"wall_ms": wall, "cpu_ms": wall if cpu is None else cpu, "peak_mb": peak}
    return {"role": role} | {measure: figures.summary([value]) for measure, value in values.items()}


def document(**tools):
    names = {"product": figures.PRODUCT, "peer": "a peer", "other": "another", "fixed": "fixed work"}
    return {"cases": {"a case": {"tools": {names[name]: value for name, value in tools.items()}}}}


def usual(scale=1.0, product=1.0, peak=10.0):
    """A run on a machine `scale` times as slow, of a product `product` times as slow."""
    return document(
        product=tool("product", 100 * scale * product, peak=peak),
        peer=tool("peer", 200 * scale),
        other=tool("peer", 300 * scale),
        fixed=tool("reference", 40 * scale),
    )


class Summaries(unittest.TestCase):
    def test_median(self):
        self.assertEqual(figures.median([3, 1, 2]), 2)
        self.assertEqual(figures.median([4, 1, 3, 2]), 2.5)
        self.assertEqual(figures.median([7]), 7)

    def test_one_outlier_moves_neither_median_nor_spread(self):
        found = figures.summary([10, 11, 12, 11, 500])
        self.assertEqual(found, {"median": 11, "least": 10, "most": 500, "spread": 1})

    def test_four_digits(self):
        self.assertEqual([figures.rounded(x) for x in (0, 12345.6, 1.23456, -0.00123456)], [0, 12350, 1.235, -0.001235])


class Pictures(unittest.TestCase):
    def test_sizes_of_results(self):
        self.assertEqual(figures.fit(4032, 3024, 2048), (2048, 1536))
        self.assertEqual(figures.fit(3024, 4032, 256), (192, 256))
        self.assertEqual(figures.fit(100, 80, 2048), (100, 80))
        self.assertEqual(figures.fit(40000, 10, 256), (256, 1))

    def test_size_of_jpeg(self):
        head = bytes.fromhex("ffd8 ffe0 0004 0000 ffc2 0011 08 0123 0456 03".replace(" ", "")) + bytes(20)
        self.assertEqual(figures.jpeg_size(head + b"\xff\xd9"), (0x456, 0x123))
        self.assertIsNone(figures.jpeg_size(head), "cut short")
        self.assertIsNone(figures.jpeg_size(b""))
        self.assertIsNone(figures.jpeg_size(b"\x89PNG" + bytes(40)))

    def test_wrong_sizes(self):
        self.assertIsNone(figures.wrong_size((256, 191), (256, 192), 1))
        self.assertEqual(figures.wrong_size((256, 191), (256, 192), 0), "left 256x191, not 256x192")
        self.assertEqual(figures.wrong_size(None, (256, 192), 1), "left no whole JPEG")


class Options(unittest.TestCase):
    def test_tolerance(self):
        self.assertEqual(figures.parse_tolerance("10%"), 0.1)
        self.assertEqual(figures.parse_tolerance("0.25"), 0.25)
        for text in ("", "%", "-5%", "ten", "10%%"):
            self.assertRaises(ValueError, figures.parse_tolerance, text)

    def test_sizes(self):
        self.assertEqual(figures.parse_sizes("2048,256"), [2048, 256])
        for text in ("", "0", "256,", "a", "1.5", "-1"):
            self.assertRaises(ValueError, figures.parse_sizes, text)


class Ratios(unittest.TestCase):
    def test_to_the_best_peer_of_each_column(self):
        tools = document(
            product=tool("product", 50, 60, 8), peer=tool("peer", 100, 300, 80), other=tool("peer", 200, 120, 40),
            fixed=tool("reference", 25, 20),
        )["cases"]["a case"]["tools"]
        found = figures.ratios(tools)
        self.assertEqual(
            found["wall_ms"], {"best peer": "a peer", "to best peer": 0.5, "to fixed work": 2}
        )
        self.assertEqual(found["cpu_ms"], {"best peer": "another", "to best peer": 0.5, "to fixed work": 3})
        self.assertEqual(found["peak_mb"], {"best peer": "another", "to best peer": 0.2})

    def test_what_failed_does_not_count(self):
        tools = document(
            product=tool("product", 50), peer={"role": "peer", "failed": "exit status 1"}, other=tool("peer", 200)
        )["cases"]["a case"]["tools"]
        self.assertEqual(figures.ratios(tools)["wall_ms"], {"best peer": "another", "to best peer": 0.25})
        tools[figures.PRODUCT] = {"role": "product", "failed": "exit status 70"}
        self.assertEqual(figures.ratios(tools), {})


class Comparison(unittest.TestCase):
    def test_a_slower_machine_is_not_a_slower_program(self):
        self.assertEqual(figures.compare(usual(), usual(scale=3), 0.1), ([], [], 1))
        self.assertEqual(figures.compare(usual(), usual(scale=0.4), 0.1), ([], [], 1))

    def test_slower_by_every_yardstick(self):
        worse, better, _ = figures.compare(usual(), usual(scale=3, product=1.3), 0.1)
        self.assertEqual([entry[:2] for entry in worse], [("a case", "wall_ms"), ("a case", "cpu_ms")])
        self.assertAlmostEqual(worse[0][2], 1.3)
        self.assertEqual(better, [])
        self.assertEqual(figures.in_words(worse), "a case wall +30%, a case CPU +30%")

    def test_within_the_tolerance(self):
        self.assertEqual(figures.compare(usual(), usual(product=1.08), 0.1), ([], [], 1))
        self.assertEqual(len(figures.compare(usual(), usual(product=1.08), 0.05)[0]), 2)

    def test_a_faster_peer_alone_does_not_make_it_slower(self):
        now = usual()
        now["cases"]["a case"]["tools"]["a peer"] = tool("peer", 100)
        self.assertEqual(figures.compare(usual(), now, 0.1)[0], [])

    def test_a_baseline_without_that_peer_is_compared_by_the_fixed_work(self):
        now = usual(product=1.5)
        now["cases"]["a case"]["tools"]["a peer"] = {"role": "peer", "failed": "not there"}
        worse = figures.compare(usual(), now, 0.1)[0]
        self.assertEqual([entry[3] for entry in worse], ["fixed work", "fixed work"])

    def test_a_disturbed_round_does_not_make_it_slower(self):
        now = usual()
        now["cases"]["a case"]["tools"][figures.PRODUCT]["wall_ms"] = figures.summary([100, 180, 190])
        self.assertEqual(figures.compare(usual(), now, 0.1)[0], [])

    def test_peaks_are_compared_in_megabytes(self):
        worse, _, _ = figures.compare(usual(), usual(scale=2, peak=12), 0.1)
        self.assertEqual([entry[1:] for entry in worse], [("peak_mb", 1.2, "MB")])
        # Less than half a megabyte is the allocator's and the loader's.
        self.assertEqual(figures.compare(usual(peak=2.0), usual(peak=2.4), 0.1), ([], [], 1))
        self.assertEqual(figures.compare(usual(peak=10), usual(peak=6), 0.1)[1][0][1], "peak_mb")

    def test_less_than_a_millisecond_is_the_clocks(self):
        before = document(product=tool("product", 2.0), fixed=tool("reference", 40))
        now = document(product=tool("product", 2.9), fixed=tool("reference", 40))
        self.assertEqual(figures.compare(before, now, 0.1), ([], [], 1))

    def test_only_what_both_have(self):
        other = {"cases": {"another case": usual()["cases"]["a case"]}}
        self.assertEqual(figures.compare(usual(), other, 0.1), ([], [], 0))
        failed = document(product={"role": "product", "failed": "x"}, fixed=tool("reference", 40))
        self.assertEqual(figures.compare(usual(), failed, 0.1), ([], [], 0))


class Scaling(unittest.TestCase):
    def test_straight_lines_have_no_cliff(self):
        sizes = [1, 2, 4, 8, 12, 24, 48, 100, 200]
        self.assertEqual(figures.cliffs([(size, 5 + 3 * size) for size in sizes]), [])
        self.assertEqual(figures.cliffs([(size, 7) for size in sizes]), [])

    def test_a_cliff_is_where_it_is(self):
        points = [(1, 10), (2, 20), (4, 80), (8, 160)]
        self.assertEqual(figures.cliffs(points), [(2, 4, 2.0)])


class Plots(unittest.TestCase):
    def test_bounds_and_ticks(self):
        self.assertEqual(plot.bounds([17, 180]), (10, 200))
        self.assertEqual(plot.bounds([20, 50]), (20, 50))
        self.assertEqual(plot.ticks(10, 200), [10, 20, 50, 100, 200])
        self.assertEqual(plot.ticks(1, 10000), [1, 10, 100, 1000, 10000])

    def test_proportion_is_a_straight_line(self):
        series = plot.Series("A & B", [(1, 3), (10, 30), (100, 300)], 0)
        panel = plot.Panel("title <1>", "MP", "ms", [series], [1, 10, 100], guide=2)
        root = xml.etree.ElementTree.fromstring(plot.svg("all", [[panel, panel]]))
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 2)
        (x0, y0), (x1, y1), (x2, y2) = ([float(n) for n in p.split(",")] for p in lines[0].get("points").split())
        self.assertAlmostEqual(x1 - x0, x2 - x1, delta=0.11)
        self.assertAlmostEqual(y1 - y0, y2 - y1, delta=0.11)
        self.assertLess(y1, y0)


class Tables(unittest.TestCase):
    def test_words_to_the_left_numbers_to_the_right(self):
        rows = [["case", "ms"], ["a", "1"], ["longer", "100"]]
        self.assertEqual(figures.table(rows), ["case     ms", "a         1", "longer  100"])
        self.assertEqual(
            figures.table(rows, markdown=True),
            ["| case   |  ms |", "|---|---:|", "| a      |   1 |", "| longer | 100 |"],
        )


if __name__ == "__main__":
    unittest.main()
