"""Whether half or int8 weights pay when sampling on ONNX Runtime's CPU: seconds of the processor for the products of weights of one decoding step (all
blocks and the output matrix) in float32, float16, int8 (dynamic quantisation: DynamicQuantizeMatMul) and 8-bit blocks (MatMulNBits),
interleaved, medians. Weights are fed in each call, as weights that learn are, or with `constant` part of the model, which the runtime
packs beforehand. Arguments: threads, rounds, and `constant` or nothing. `python bench/peers/quantised_products.py 1 21`"""
import sys, time
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto as T, helper as h, numpy_helper as nh

threads, rounds = int(sys.argv[1]), int(sys.argv[2])
constant = sys.argv[3:] == ["constant"]
rng = np.random.default_rng(0)
models = {"0.9M": (128, 4), "5M": (256, 6), "26M": (512, 8)}


def matrices(width, layers):
    inner = width * 11 // 4
    for layer in range(layers):
        for inputs, outputs in ((width, 3 * width), (width, width), (width, inner), (width, inner), (inner, width)):
            yield (rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
    yield (rng.standard_normal((width, 1024)) / np.sqrt(width)).astype(np.float32)


def session(kind, weights):
    """One input a matrix, so that nothing but products is timed; outputs are summed to one number each."""
    nodes, initials, inputs, outputs = [], [], [], []
    number = T.FLOAT16 if kind == "float16" else T.FLOAT
    seen = set()
    for i, w in enumerate(weights):
        size, out = w.shape
        x = f"x{size}"
        if x not in seen:
            seen.add(x)
            inputs.append(h.make_tensor_value_info(x, number, ["M", size]))
        if kind in ("float32", "float16"):
            initials.append(nh.from_array(w.astype(np.float16) if kind == "float16" else w, f"w{i}"))
            nodes.append(h.make_node("MatMul", [x, f"w{i}"], [f"y{i}"]))
        elif kind == "int8":
            scale = np.abs(w).max(0) / 127
            initials += [nh.from_array(np.round(w / scale).astype(np.int8), f"w{i}"), nh.from_array(scale.astype(np.float32), f"s{i}"),
                         nh.from_array(np.zeros(out, np.int8), f"z{i}")]
            nodes.append(h.make_node("DynamicQuantizeMatMul", [x, f"w{i}", f"s{i}", f"z{i}"], [f"y{i}"], domain="com.microsoft"))
        else:
            block = 32
            parts = w.T.reshape(out, size // block, block)
            scale = np.abs(parts).max(-1) / 127
            codes = (np.round(parts / scale[..., None]) + 128).clip(0, 255).astype(np.uint8)
            initials += [nh.from_array(codes, f"w{i}"), nh.from_array(scale.astype(np.float32), f"s{i}")]
            nodes.append(h.make_node("MatMulNBits", [x, f"w{i}", f"s{i}"], [f"y{i}"], domain="com.microsoft",
                                     K=size, N=out, bits=8, block_size=block, accuracy_level=4))
        nodes.append(h.make_node("ReduceMax", [f"y{i}"], [f"m{i}"], keepdims=0))
        outputs.append(h.make_tensor_value_info(f"m{i}", number, []))
    model = h.make_model(h.make_graph(nodes, kind, inputs, outputs, initials), ir_version=10,
                         opset_imports=[h.make_opsetid("", 20), h.make_opsetid("com.microsoft", 1)])
    if not constant:
        fed = [i for i in model.graph.initializer]
        del model.graph.initializer[:]
        model.graph.input.extend(h.make_tensor_value_info(i.name, i.data_type, list(i.dims)) for i in fed)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    made = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return made, {} if constant else {i.name: nh.to_array(i) for i in fed}


print(f"onnxruntime {ort.__version__}, {threads} threads, weights {'constant' if constant else 'fed'}; times relative to float32 (below 1 is faster)")
for name, (width, layers) in models.items():
    weights = list(matrices(width, layers))
    made = {kind: session(kind, weights) for kind in ("float32", "float16", "int8", *(["int8 blocks"] if constant else []))}
    for rows in (1, 8, 128):
        feeds = {kind: fed | {i.name: rng.standard_normal((rows, i.shape[1])).astype(np.float16 if kind == "float16" else np.float32)
                              for i in s.get_inputs() if i.name.startswith("x")} for kind, (s, fed) in made.items()}
        times = {kind: [] for kind in made}
        for _ in range(rounds):
            for kind, (s, _) in made.items():
                begin = time.process_time()
                s.run(None, feeds[kind])
                times[kind].append(time.process_time() - begin)
        base = np.median(times["float32"])
        ratios = {kind: np.median(np.array(t) / np.array(times["float32"])) for kind, t in times.items()}
        print(f"{name:>5} batch {rows:>3}: float32 {1e3 * base:7.2f} ms  " +
              "  ".join(f"{kind} {ratio:.2f}" for kind, ratio in ratios.items() if kind != "float32"), flush=True)
