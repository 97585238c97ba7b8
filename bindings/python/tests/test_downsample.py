"""Tests of the package against the library that DOWNSAMPLE_LIBRARY names: `make test-python`."""

import concurrent.futures
import copy
import io
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

import downsample

try:
    import numpy
except ImportError:
    numpy = None
try:
    import PIL.Image as pillow
except ImportError:
    pillow = None


def png(width, height, alpha=False):
    """A PNG of slopes, whose every pixel is different from the one beside it."""
    channels = 4 if alpha else 3
    rows = bytearray()
    for y in range(height):
        row = bytearray(width * channels)
        row[0::channels] = bytes(x * 255 // width for x in range(width))
        row[1::channels] = bytes([y * 255 // height]) * width
        row[2::channels] = bytes((x * 7 + y * 3) % 256 for x in range(width))
        if alpha:
            row[3::channels] = bytes((x + y) % 256 for x in range(width))
        rows += b"\0" + row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6 if alpha else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


SMALL = png(300, 200)
LARGE = png(3000, 2000)
JPEG = downsample.thumbnail(LARGE, quality=92)


class Stream:
    """A source that can be read in order only."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(min(size, 1000))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class SourceTests(Folder):
    def test_all_sources_give_the_same(self):
        path = self.folder / "in.jpg"
        path.write_bytes(JPEG)
        expected = downsample.thumbnail(JPEG, max_size=200)
        self.assertEqual(expected[:2], b"\xff\xd8")
        view = memoryview(b"12" + JPEG + b"3")[2:-1]
        for source in [path, str(path), os.fspath(path), bytearray(JPEG), view, io.BytesIO(JPEG), Stream(JPEG)]:
            with self.subTest(kind=type(source).__name__):
                self.assertEqual(downsample.thumbnail(source, max_size=200), expected)
        with open(path, "rb") as file:
            self.assertEqual(downsample.thumbnail(file, max_size=200), expected)

    def test_a_file_is_read_from_its_position(self):
        file = io.BytesIO(b"junk" + JPEG)
        file.seek(4)
        self.assertEqual(downsample.thumbnail(file, max_size=64), downsample.thumbnail(JPEG, max_size=64))

    def test_a_heic_comes_from_any_source(self):
        try:
            heic = downsample.thumbnail(SMALL, format="heic")
        except downsample.UnsupportedError as error:
            self.skipTest(f"no HEIC is written here: {error}")
        expected = downsample.thumbnail(heic, max_size=100)
        self.assertEqual(downsample.thumbnail(io.BytesIO(heic), max_size=100), expected)
        self.assertEqual(downsample.thumbnail(Stream(heic), max_size=100), expected)

    def test_a_buffer_is_let_go_of(self):
        data = bytearray(SMALL)
        downsample.thumbnail(data)
        data.append(0)
        with self.assertRaises(downsample.DamagedDataError):
            downsample.thumbnail(bytearray(b"no picture"))

    def test_wrong_sources(self):
        for source in [5, None, [1]]:
            with self.assertRaises(TypeError):
                downsample.thumbnail(source)
        with self.assertRaises(downsample.UsageError):
            downsample.thumbnail("a\0b")
        with self.assertRaises(TypeError):
            downsample.thumbnail(io.StringIO("text"))

    def test_what_read_raises_comes_out(self):
        class Broken:
            def read(self, size):
                raise ConnectionResetError("gone")

        class Greedy:
            def read(self, size):
                return bytes(size + 1)

        with self.assertRaisesRegex(ConnectionResetError, "gone"):
            downsample.thumbnail(Broken())
        with self.assertRaises(ValueError):
            downsample.thumbnail(Greedy())


class DestinationTests(Folder):
    def test_all_destinations_give_the_same(self):
        expected = downsample.thumbnail(JPEG, max_size=200)
        path = self.folder / "out.jpg"
        report = downsample.thumbnail(JPEG, path, max_size=200)
        self.assertEqual(path.read_bytes(), expected)
        self.assertEqual((report.outputs[0].width, report.outputs[0].height), (200, 133))
        self.assertEqual(report.outputs[0].byte_count, len(expected))
        file = io.BytesIO()
        downsample.thumbnail(JPEG, file, max_size=200)
        self.assertEqual(file.getvalue(), expected)

    def test_a_file_that_takes_little_gets_all(self):
        class Little:
            data = b""

            def write(self, data):
                self.data += data[:100]
                return min(100, len(data))

        little = Little()
        downsample.thumbnail(JPEG, little, max_size=200)
        self.assertEqual(little.data, downsample.thumbnail(JPEG, max_size=200))

    def test_the_format(self):
        downsample.thumbnail(SMALL, self.folder / "a.PNG")
        self.assertEqual((self.folder / "a.PNG").read_bytes()[:4], b"\x89PNG")
        downsample.thumbnail(SMALL, self.folder / "b.PNG", format="jpeg")
        self.assertEqual((self.folder / "b.PNG").read_bytes()[:2], b"\xff\xd8")
        with self.assertRaisesRegex(downsample.UsageError, "extension .txt"):
            downsample.thumbnail(SMALL, self.folder / "c.txt")

    def test_what_write_raises_comes_out(self):
        class Full:
            def write(self, data):
                raise OSError(28, "full")

        with self.assertRaises(OSError) as caught:
            downsample.thumbnail(JPEG, Full())
        self.assertEqual(caught.exception.errno, 28)
        self.assertNotIsInstance(caught.exception, downsample.Error)

    def test_a_failure_leaves_no_file(self):
        with self.assertRaises(downsample.Error):
            downsample.thumbnail(JPEG[: len(JPEG) // 2], self.folder / "out.jpg")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_several_out_of_one(self):
        renditions = [downsample.Rendition(max_size=size) for size in (50, 100, 200)]
        path = self.folder / "middle.jpg"
        report = downsample.thumbnails(JPEG, renditions, [None, path, None])
        self.assertEqual([output.width for output in report.outputs], [50, 100, 200])
        self.assertIsNone(report.outputs[1].data)
        self.assertEqual(len(report.outputs[2].data), report.outputs[2].byte_count)
        self.assertGreater(path.stat().st_size, 0)
        with self.assertRaises(downsample.UsageError):
            downsample.thumbnails(JPEG, renditions, [None])


class ArrayTests(unittest.TestCase):
    def setUp(self):
        if numpy is None:
            self.skipTest("no NumPy")

    def test_modes(self):
        source = png(120, 80, alpha=True)
        rgb = downsample.thumbnail_array(source, max_size=60)
        self.assertEqual((rgb.shape, rgb.dtype), ((40, 60, 3), numpy.uint8))
        rgba = downsample.thumbnail_array(source, max_size=60, mode="RGBA")
        bgra = downsample.thumbnail_array(source, max_size=60, mode="BGRA")
        self.assertTrue((rgba[..., [2, 1, 0, 3]] == bgra).all())
        deep = downsample.thumbnail_array(source, max_size=60, mode="RGBA", dtype=numpy.uint16)
        self.assertEqual(deep.dtype, numpy.uint16)
        self.assertLessEqual(numpy.abs(deep[..., 3] / 257 - rgba[..., 3]).max(), 1)

    def test_it_is_what_a_png_holds(self):
        if pillow is None:
            self.skipTest("no Pillow")
        array = downsample.thumbnail_array(JPEG, max_size=100)
        peer = pillow.open(io.BytesIO(downsample.thumbnail(JPEG, max_size=100, format="png", color="srgb")))
        self.assertTrue((numpy.asarray(peer.convert("RGB")) == array).all())

    def test_wrong_kinds(self):
        for options in [{"mode": "CMYK"}, {"dtype": "float32"}, {"dtype": "int8"}, {"mode": "BGRA", "dtype": "uint16"}]:
            with self.assertRaises(downsample.UsageError):
                downsample.thumbnail_array(SMALL, **options)


class PeerTests(unittest.TestCase):
    def test_pillow_sees_the_same_picture(self):
        if pillow is None:
            self.skipTest("no Pillow")
        ours = pillow.open(io.BytesIO(downsample.thumbnail(SMALL, max_size=150, format="png"))).convert("RGB")
        peer = pillow.open(io.BytesIO(SMALL)).convert("RGB").resize((150, 100), pillow.Resampling.LANCZOS)
        difference = [abs(a - b) for a, b in zip(ours.tobytes(), peer.tobytes())]
        self.assertLess(sum(difference) / len(difference), 2)


class PlanTests(unittest.TestCase):
    def test_probe(self):
        header = downsample.probe(JPEG)
        self.assertEqual((header.kind, header.width, header.height, header.depth), ("JPEG", 2048, 1365, 8))
        self.assertEqual(header.byte_count, len(JPEG))
        self.assertTrue(downsample.probe(png(4, 4, alpha=True)).has_alpha)

    def test_plan(self):
        plan = downsample.plan(JPEG, downsample.Rendition(max_size=100))
        self.assertTrue(plan.fits)
        self.assertGreater(plan.predicted_peak_bytes, plan.added_bytes)
        self.assertIsNone(plan.largest_fitting_size)
        refused = downsample.plan(JPEG, memory="1MB")
        self.assertFalse(refused.fits)
        self.assertEqual(refused.limit_bytes, 1 << 20)

    def test_memory(self):
        for memory in [1 << 30, "1GB", "1024 MiB", "1073741824", "auto", None]:
            self.assertTrue(downsample.plan(JPEG, memory=memory).fits)
        for memory in ["much", "", "-1MB", 0, -5, 1 << 64]:
            with self.assertRaises(downsample.UsageError):
                downsample.plan(JPEG, memory=memory)

    def test_the_default_leaves_room_in_a_large_process(self):
        ballast = bytearray(b"\1") * (160 << 20)
        plan = downsample.plan(JPEG)
        self.assertTrue(plan.fits)
        self.assertGreater(plan.limit_bytes, len(ballast))

    def test_a_ledger_stays_where_it_is(self):
        ledger = downsample.Ledger("100MB")
        for attempt in copy.copy, copy.deepcopy, pickle.dumps:
            with self.assertRaises(TypeError):
                attempt(ledger)
        with self.assertRaises(TypeError):
            downsample.thumbnail(SMALL, ledger=5)
        with self.assertRaises(TypeError):
            downsample.thumbnails(SMALL, [5])

    def test_a_ledger(self):
        ledger = downsample.Ledger("100MB")
        seen = []
        downsample.thumbnail(JPEG, ledger=ledger, progress=lambda *_: seen.append(ledger.reserved_bytes))
        self.assertGreater(max(seen), 0)
        self.assertEqual(ledger.reserved_bytes, 0)
        with self.assertRaises(downsample.OverBudgetError):
            downsample.thumbnail(JPEG, ledger=downsample.Ledger(1))


class ErrorTests(unittest.TestCase):
    def check(self, kind, status, name, *arguments, **options):
        with self.assertRaises(kind) as caught:
            downsample.thumbnail(*arguments, **options)
        error = caught.exception
        self.assertIs(type(error), kind)
        self.assertIsInstance(error, downsample.Error)
        self.assertEqual((error.status, error.name), (status, name))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy), copy.status), (kind, str(error), status))
        return error

    def test_each_status(self):
        status = downsample.Status
        self.check(downsample.UsageError, status.USAGE, "usage", SMALL, quality=101)
        self.check(downsample.DamagedDataError, status.DAMAGED_DATA, "damagedData", JPEG[:2000])
        self.check(downsample.NoInputError, status.NO_INPUT, "noInput", "/no/such/file.jpg")
        self.check(downsample.CannotCreateError, status.CANNOT_CREATE, "cannotCreate", SMALL, "/no/such/folder/a.jpg")
        self.check(downsample.OverBudgetError, status.OVER_BUDGET, "overBudget", JPEG, memory="1MB")
        self.check(downsample.CancelledError, status.CANCELLED, "cancelled", LARGE, cancelled=lambda: True)
        self.check(downsample.DeadlineError, status.DEADLINE_PASSED, "deadlinePassed", LARGE, deadline=0.001)

    def test_they_are_pythons_too(self):
        self.assertTrue(issubclass(downsample.UsageError, ValueError))
        self.assertTrue(issubclass(downsample.NoInputError, OSError))
        self.assertTrue(issubclass(downsample.DeadlineError, TimeoutError))

    def test_ranges(self):
        wrong = {
            "max_size": (0, -1, 65_501, (1 << 32) + 512),
            "quality": (0,),
            "effort": (10,),
            "depth": (12, -1),
            "format": ("gif",),
            "chroma": ("411",),
            "color": ("cmyk",),
            "intent": ("none",),
            "kernel": ("sinc",),
            "metadata": ("some",),
            "background": ((1, 2), (1, 2, 256)),
            "over_budget": ("panic",),
            "threads": (0, 65),
            "deadline": (0, -1, float("nan"), float("inf")),
        }
        for name, values in wrong.items():
            for value in values:
                with self.subTest(name=name, value=value), self.assertRaises(downsample.UsageError):
                    downsample.thumbnail(SMALL, **{name: value})

    def test_every_option_is_taken(self):
        data = downsample.thumbnail(
            SMALL, max_size="auto", format="jpeg", quality=70, chroma="444", effort=5, progressive=True, depth=8,
            color="srgb", intent="perceptual", linear=True, kernel="mitchell", background=(0, 0, 0), metadata="all",
            strip_gps=True, ignore_orientation=True, over_budget="shrink", salvage=True, threads=2, deadline=60,
        )
        self.assertEqual(data[:2], b"\xff\xd8")

    def test_salvage_warns(self):
        report = downsample.thumbnail(JPEG[: len(JPEG) // 2], io.BytesIO(), salvage=True)
        self.assertTrue(report.warnings)


class CallbackTests(unittest.TestCase):
    def test_progress(self):
        seen = []
        downsample.thumbnail(LARGE, progress=lambda rows, of_rows: seen.append((rows, of_rows)))
        self.assertEqual(seen[-1][0], seen[-1][1])
        self.assertEqual(seen, sorted(seen))

    def test_what_callbacks_raise_comes_out(self):
        def broken(*_):
            raise LookupError("mine")

        for name in ("progress", "cancelled"):
            with self.subTest(name), self.assertRaisesRegex(LookupError, "mine"):
                downsample.thumbnail(LARGE, **{name: broken})

    def test_control_c(self):
        options = {"format": "png", "effort": 5}
        began = time.monotonic()
        downsample.thumbnail(LARGE, **options)
        whole = time.monotonic() - began
        # To the process, which the main thread gets, and to another thread, which leaves the main one asleep.
        for interrupt in (lambda: os.kill(os.getpid(), signal.SIGINT), lambda: signal.raise_signal(signal.SIGINT)):
            timer = threading.Timer(whole / 10, interrupt)
            began = time.monotonic()
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                downsample.thumbnail(LARGE, **options)
            self.assertLess(time.monotonic() - began, whole * 0.8)
            timer.join()

    def test_a_fifo_without_another_end(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            for source, destination in [(fifo, None), (SMALL, fifo)]:
                start = time.monotonic()
                with self.assertRaises(downsample.DeadlineError):
                    downsample.thumbnail(source, destination, format="jpeg", deadline=0.1)
                with self.assertRaises(downsample.CancelledError):
                    downsample.thumbnail(source, destination, format="jpeg", cancelled=lambda: True)
                self.assertLess(time.monotonic() - start, 2)

    def test_the_interpreter_ends_during_a_call(self):
        program = """if True:
            import io, sys, threading, time, downsample
            data = open(sys.argv[1], "rb").read()
            def work():
                while True:
                    downsample.thumbnail(io.BytesIO(data), max_size=300, progress=lambda *_: None, cancelled=lambda: False)
            for _ in range(2):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.1)
            """
        path = os.environ["PYTHONPATH"] if "PYTHONPATH" in os.environ else ""
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.dirname(downsample.__path__[0]), path]))
        with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
            file.write(JPEG)
            file.flush()
            for _ in range(10):
                done = subprocess.run([sys.executable, "-c", program, file.name], env=environment, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_other_python_goes_on_meanwhile(self):
        count = 0
        counts = []
        stop = False

        def counter():
            nonlocal count
            while not stop:
                count += 1
                time.sleep(0)

        def work():
            before = count
            for _ in range(5):
                downsample.thumbnail(LARGE, threads=1)
            counts.append(count - before)

        threads = [threading.Thread(target=counter), threading.Thread(target=work)]
        for thread in threads:
            thread.start()
        threads[1].join()
        stop = True
        threads[0].join()
        # A held lock would let it come to its turn between two calls, a handful of times.
        self.assertGreater(counts[0], 200)


class ManyTests(Folder):
    def test_threads_give_the_same(self):
        expected = downsample.thumbnail(JPEG, max_size=150)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: downsample.thumbnail(JPEG, max_size=150, memory="1GB"), range(40)))
        self.assertEqual(set(results), {expected})

    def test_no_descriptor_stays_open(self):
        path = self.folder / "in.png"
        path.write_bytes(SMALL)

        def call(number):
            kind = number % 5
            if kind == 0:
                downsample.thumbnail(path, self.folder / "out.jpg", max_size=20)
            elif kind == 1:
                downsample.thumbnail(Stream(SMALL), io.BytesIO(), max_size=20)
            elif kind == 2:
                downsample.probe(path)
            else:
                try:
                    if kind == 3:
                        downsample.thumbnail(path, max_size=20, cancelled=lambda: True)
                    else:
                        downsample.thumbnail(SMALL[:500], self.folder / "never.jpg")
                except downsample.Error:
                    pass

        call(0)
        before = len(os.listdir("/proc/self/fd"))
        for number in range(500):
            call(number)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.png", "out.jpg"])
        self.assertEqual(downsample._calls, {})


if __name__ == "__main__":
    unittest.main()
