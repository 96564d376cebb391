"""
Messages of the Tinker protocol as the official SDK writes and reads them.

    pip install tinker==0.25.0
    python make_protobuf.py > protobuf.json
"""

import base64
import json

import numpy as np
from tinker import types
from tinker.proto import tinker_public_pb2 as pb
from tinker.proto.request_conv import forward_backward_request_to_proto


def b64(data):
    return base64.b64encode(data).decode()


def datum(tokens, **inputs):
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs={"target_tokens": tokens[1:], **inputs})


request = types.ForwardBackwardRequest(
    forward_backward_input=types.ForwardBackwardInput(
        data=[
            datum([5, 1000, 70000, 2], logprobs=[0.0, -0.25, -1.5], advantages=[0.0, 2.0, -0.125]),
            types.Datum(
                model_input=types.ModelInput(
                    chunks=[types.EncodedTextChunk(tokens=[1, 2]), types.EncodedTextChunk(tokens=[3])]
                ),
                loss_fn_inputs={"target_tokens": [2, 3, 4], "weights": [0.0, 1.0, 0.5]},
            ),
        ],
        loss_fn="ppo",
        loss_fn_config={"clip_low_threshold": 0.8, "clip_high_threshold": 1.28},
    ),
    model_id="model-1",
    seq_id=300,
)
message = forward_backward_request_to_proto(request)
message.forward_only = True

empty = pb.ForwardBackwardRequest(model_id="m", loss_fn="cross_entropy")
sparse = pb.ForwardBackwardRequest(model_id="m", loss_fn="cross_entropy")
sparse.data.add().loss_fn_inputs["weights"].sparse_csr.values = b"1234"
image = pb.ForwardBackwardRequest(model_id="m", loss_fn="cross_entropy")
image.data.add().model_input.add().image.format = "png"


def floats(values):
    return np.asarray(values, np.float32).tobytes()


sample = pb.SampleResponse(prompt_logprobs=floats([np.nan, -1.5, -0.5]))
for reason, tokens, logprobs in [
    (pb.STOP_REASON_LENGTH, [3, 70000], [-0.5, -2.25]),
    (pb.STOP_REASON_STOP, [9], [-0.125]),
]:
    sample.sequences.add(stop_reason=reason, tokens=np.asarray(tokens, np.int32).tobytes(), logprobs=floats(logprobs))

output = pb.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord")
record = output.loss_fn_outputs.add(num_datums=2)
record.fields["logprobs"].CopyFrom(
    pb.BatchedTensor(
        data=floats([-1, -2, -3, -0.5]), offsets=np.asarray([0, 12, 16], np.int64).tobytes(), dtype=pb.DTYPE_FLOAT32
    )
)
output.metrics["loss:sum"] = -12.0625

print(
    json.dumps(
        {
            "request": b64(message.SerializeToString()),
            "empty": b64(empty.SerializeToString()),
            "sparse": b64(sparse.SerializeToString()),
            "image": b64(image.SerializeToString()),
            "sample": b64(sample.SerializeToString()),
            "output": b64(output.SerializeToString()),
        },
        indent=1,
    )
)
