"""Whether the peers restated here are as quick as what they restate: steps a second of one thread beside those recorded for
the originals on another day (they stand in `peers` below), scaled by how quick a product of matrices of
256 x 256 (wide networks), or of 4 x 64 and 64 x 64 (narrow ones), is today and was then. Seconds are those of the processor, so
that other work on the machine counts little. `python bench/peers/check.py`"""
import os
import resource
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
# Products then, in GFLOP/s of PyTorch on one thread.
wide_then, narrow_then = 88, 12.7
# Name, arguments, steps, what was recorded (lowest, highest), whether it is a wide network.
peers = [
    ("ppo", ["cleanrl"], 20_000, (4656, 4656), False),
    ("ppo", ["sb3-zoo"], 10_000, (2800, 3600), False),
    ("dqn", [], 6000, (690, 900), True),
    ("sac", [], 600, (64, 64), True),
]


def products(rows, size):
    import torch

    torch.set_num_threads(1)
    a, b = torch.randn(rows, size), torch.randn(size, size)
    count = max(20, int(2e8 / (2 * rows * size * size)))
    best = 0
    for _ in range(20):
        begin = time.process_time()
        for _ in range(count):
            a @ b
        best = max(best, 2 * rows * size * size * count / (time.process_time() - begin) / 1e9)
    return best


def seconds(name, arguments, counts):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-B", f"{here}/{name}.py", "1", *arguments], check=True,
                   input="".join(f"{count}\n" for count in counts).encode(), stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


wide, narrow = products(256, 256), products(4, 64)
print(f"products: 256x256 {wide:.0f} GFLOP/s (then {wide_then}), 4x64 {narrow:.1f} (then {narrow_then})")
for name, arguments, steps, (low, high), is_wide in peers:
    # Twice, so that starting, and playing 100 episodes afterwards, falls out.
    rate = steps / (seconds(name, arguments, [steps, steps]) - seconds(name, arguments, [steps]))
    scale = wide / wide_then if is_wide else narrow / narrow_then
    print(f"{name} {' '.join(arguments)}: {rate:.0f} steps/s; recorded {low}-{high}, scaled {low * scale:.0f}-{high * scale:.0f}")
