"""
Trains a model of Agoge's server with the official Python SDK, and checks what it says.

    pip install tinker==0.25.0 torch
    agoge serve --tinker --port 8765
    python src/llm/serving/tinker/testing/official_sdk.py http://127.0.0.1:8765

Part of no test, for users and CI need no Python. Losses are computed again with PyTorch from the log-probabilities that the server
gives.
"""

import os
import sys

os.environ.setdefault("TINKER_API_KEY", "tml-local")
os.environ["TINKER_BASE_URL"] = sys.argv[1]
os.environ["TINKER_TELEMETRY"] = os.environ.get("TINKER_TELEMETRY", "1")

import tinker
import torch
from tinker import types

RANK = int(sys.argv[2]) if len(sys.argv) > 2 else 0
service = tinker.ServiceClient()
name = service.get_server_capabilities().supported_models[0].model_name
training = service.create_lora_training_client(base_model=name, rank=RANK, seed=0)
info = training.get_info()
print(f"SDK {tinker.__version__}, model {info.model_data.model_name}, LoRA rank {info.lora_rank}")

generator = torch.Generator().manual_seed(0)
rows = [torch.randint(10, 200, (20,), generator=generator).tolist() for _ in range(6)]


def sft(tokens):
    weights = [0.0] * 5 + [1 / 84] * 14
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], "weights": weights},
    )


def close(label, found, expected, within=1e-4):
    assert abs(found - expected) <= within * max(1.0, abs(expected)), f"{label}: {found} is not {expected}"
    print(f"ok  {label}: {found:.6f}")


# Imitation: the loss falls, and is what its log-probabilities say.
losses = []
for step in range(8):
    future = training.forward_backward([sft(row) for row in rows], "cross_entropy")
    optim = training.optim_step(types.AdamParams(learning_rate=0.003, grad_clip_norm=1.0))
    result = future.result()
    losses.append(result.metrics["loss:sum"])
    assert optim.result().metrics["grad_norm"] > 0
    again = -sum(
        (out["logprobs"].to_torch() * torch.tensor(sft(row).loss_fn_inputs["weights"].tolist())).sum().item()
        for row, out in zip(rows, result.loss_fn_outputs, strict=True)
    )
    assert abs(again - losses[-1]) < 1e-3 * again
assert losses[-1] < 0.8 * losses[0], losses
print("ok  cross_entropy:", " ".join(f"{loss:.4f}" for loss in losses))

# Sampling: greedy is repeatable, seeds too, ends are kept, the log-probability of the prompt is that of a forward pass.
sampler = training.save_weights_and_get_sampling_client()
prompt = types.ModelInput.from_ints(rows[0][:8])
greedy = types.SamplingParams(max_tokens=6, temperature=0.0)
one, other = (sampler.sample(prompt, 1, greedy).result().sequences[0] for _ in range(2))
assert one.tokens == other.tokens and len(one.tokens) == 6 and one.stop_reason == "length"
seeded = types.SamplingParams(max_tokens=6, temperature=1.0, seed=7)
first, second = (sampler.sample(prompt, 4, seeded).result() for _ in range(2))
assert [s.tokens for s in first.sequences] == [s.tokens for s in second.sequences]
assert len({tuple(s.tokens) for s in first.sequences}) > 1
stopped = sampler.sample(prompt, 1, types.SamplingParams(max_tokens=6, temperature=0.0, stop=[one.tokens[2]])).result()
assert stopped.sequences[0].stop_reason == "stop"
assert stopped.sequences[0].tokens == one.tokens[: one.tokens.index(one.tokens[2]) + 1]
print("ok  sampling:", one.tokens)
logprobs = sampler.compute_logprobs(types.ModelInput.from_ints(rows[1])).result()
forward = training.forward([sft(rows[1])], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].tolist()
assert logprobs[0] is None
close("compute_logprobs", sum(logprobs[1:]), sum(forward))
many = [sampler.sample(prompt, 1, types.SamplingParams(max_tokens=4)) for _ in range(40)]
assert all(len(each.result().sequences[0].tokens) >= 1 for each in many)
print("ok  40 samples at once")

# Reinforcement learning, each loss against its formula.
sample = first.sequences[0]
tokens = rows[0][:8] + list(sample.tokens)
count = len(sample.tokens)
behind = torch.tensor([0.0] * 7 + list(sample.logprobs))
advantage = torch.tensor([0.0] * 7 + [0.5] * count)
trained = torch.tensor([0.0] * 7 + [1.0] * count)


def rl():
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], "logprobs": behind - 0.3 * trained, "advantages": advantage},
    )


def ratio(logprobs):
    return torch.exp(logprobs - behind + 0.3 * trained)


formulas = {
    "importance_sampling": ({}, lambda p: -(ratio(p) * advantage).sum()),
    "ppo": ({}, lambda p: -torch.minimum(ratio(p) * advantage, ratio(p).clamp(0.8, 1.2) * advantage).sum()),
    "cispo": ({}, lambda p: -(ratio(p).clamp(0.0, 4.0) * advantage * p).sum()),
    "dro": ({"beta": 0.05}, lambda p: -(p * advantage - 0.025 * trained * (p - behind + 0.3) ** 2).sum()),
}
two_sided = {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}
for loss_fn, (config, formula) in [
    *formulas.items(),
    ("cispo", (two_sided, lambda p: -(ratio(p).clamp(0.9, 1.1) * advantage * p).sum())),
]:
    result = training.forward_backward([rl()], loss_fn, config or None).result()
    expected = formula(result.loss_fn_outputs[0]["logprobs"].to_torch()).item()
    close(f"{loss_fn} {config or ''}", result.metrics["loss:sum"], expected)
training.optim_step(types.AdamParams(learning_rate=1e-4)).result()


# A loss of one's own.
def squared(data, logprobs):
    loss = sum((each**2).sum() for each in logprobs)
    return loss, {"squared": loss.item()}


custom = training.forward_backward_custom([sft(rows[0])], squared).result()
close("forward_backward_custom", custom.metrics["squared"], (custom.loss_fn_outputs[0]["logprobs"].to_torch() ** 2).sum().item())
training.optim_step(types.AdamParams(learning_rate=1e-4)).result()

# Checkpoints.
saved = training.save_state("halfway").result()
before = training.forward([sft(rows[2])], "cross_entropy").result().metrics["loss:sum"]
training.forward_backward([sft(rows[2])], "cross_entropy").result()
training.optim_step(types.AdamParams(learning_rate=0.05)).result()
assert abs(training.forward([sft(rows[2])], "cross_entropy").result().metrics["loss:sum"] - before) > 1e-4
resumed = service.create_training_client_from_state_with_optimizer(saved.path)
close("resumed", resumed.forward([sft(rows[2])], "cross_entropy").result().metrics["loss:sum"], before, 1e-6)
named = resumed.save_weights_for_sampler("for-sampling").result()
stored = service.create_sampling_client(model_path=named.path)
assert stored.get_base_model() == name
assert len(stored.sample(prompt, 1, greedy).result().sequences[0].tokens) == 6
base = service.create_sampling_client(base_model=name)
assert len(base.sample(prompt, 1, greedy).result().sequences[0].tokens) == 6
rest = service.create_rest_client()
runs = rest.list_training_runs().result()
assert any(run.last_checkpoint is not None for run in runs.training_runs)
listed = rest.list_checkpoints(training.model_id).result().checkpoints
print("ok  checkpoints:", [each.tinker_path for each in listed])

# What cannot be done is told.
try:
    training.forward_backward([sft([5000] * 10 + rows[0][:10])], "cross_entropy").result()
    raise AssertionError("a token outside of the vocabulary was taken")
except tinker.RequestFailedError as error:
    print("ok  refused:", str(error)[:120])
print("all is well")
