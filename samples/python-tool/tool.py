"""Three sizes of one picture out of one decode, and its mean colour: python3 tool.py PICTURE"""

import sys

import downsample

if len(sys.argv) != 2:
    sys.exit("usage: tool.py PICTURE")
path = sys.argv[1]
sizes = (256, 1024, 2048)
renditions = [downsample.Rendition(max_size=size) for size in sizes]
try:
    plan = downsample.plan(path, renditions)
    print(f"predicted peak {plan.predicted_peak_bytes / (1 << 20):.1f} MB of {plan.limit_bytes / (1 << 20):.1f}")
    report = downsample.thumbnails(path, renditions, [f"{path}-python-{size}.jpg" for size in sizes])
except downsample.Error as error:
    print(f"{path}: {error} ({error.name})", file=sys.stderr)
    sys.exit(error.status)
for warning in report.warnings:
    print(f"{path}: warning: {warning}", file=sys.stderr)
for output in report.outputs:
    print(f"{output.width}x{output.height}, {output.byte_count} bytes")
try:
    red, green, blue = downsample.thumbnail_array(path, max_size=1)[0, 0]
    print(f"mean colour #{red:02x}{green:02x}{blue:02x}")
except ImportError:
    print("no NumPy: the mean colour is left out")
