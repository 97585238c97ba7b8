#!/usr/bin/env python3
"""One picture through one library: peer.py pillow|pyvips|opencv INPUT OUTPUT MAX, or peer.py --versions.

Each in the way that its manual gives for thumbnails: Pillow with draft and reducing_gap, libvips by its thumbnail operation,
OpenCV by a whole decode and INTER_AREA. --versions prints a JSON object of what can be imported.
"""

import json
import sys


def versions():
    found = {}
    try:
        import PIL

        found["Pillow"] = PIL.__version__
        import pillow_heif

        found["pillow-heif"] = pillow_heif.__version__
    except ImportError:
        pass
    try:
        import pyvips

        numbers = ".".join(str(pyvips.version(i)) for i in range(3))
        found["pyvips"] = f"{pyvips.__version__}, libvips {numbers}"
    except (ImportError, OSError):
        pass
    try:
        import cv2

        found["OpenCV"] = cv2.__version__
    except ImportError:
        pass
    return found


def with_pillow(source, target, longest):
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None
    if source.lower().endswith((".heic", ".heif")):
        import pillow_heif

        pillow_heif.register_heif_opener()
    image = Image.open(source)
    image.draft("RGB", (longest, longest))
    image = ImageOps.exif_transpose(image)
    image.thumbnail((longest, longest), Image.LANCZOS, reducing_gap=2.0)
    image.convert("RGB").save(target, quality=85)


def with_pyvips(source, target, longest):
    import pyvips

    pyvips.Image.thumbnail(source, longest, height=longest, size="down").jpegsave(target, Q=85)


def with_opencv(source, target, longest):
    import cv2

    image = cv2.imread(source, cv2.IMREAD_COLOR)
    if image is None:
        sys.exit("OpenCV cannot read it")
    height, width = image.shape[:2]
    scale = min(1, longest / max(height, width))
    size = max(1, int(width * scale + 0.5)), max(1, int(height * scale + 0.5))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    if not cv2.imwrite(target, small, [cv2.IMWRITE_JPEG_QUALITY, 85]):
        sys.exit("OpenCV cannot write it")


def main():
    if sys.argv[1:] == ["--versions"]:
        print(json.dumps(versions()))
        return
    library, source, target, longest = sys.argv[1:]
    {"pillow": with_pillow, "pyvips": with_pyvips, "opencv": with_opencv}[library](source, target, int(longest))


if __name__ == "__main__":
    main()
