"""Makes golden/long-rows.json: what transformers computes of 601 tokens with the checkpoints of golden/checkpoints, their windows made longer.

Run as: python make_long_rows.py FOLDER_OF_CHECKPOINTS OUT. By family: the log-probability of every token but the first, in float32,
rounded to 6 digits, and the L2 norm of the gradient of their mean by tensor. Token i is (31 i^2 + 7 i) mod 37.
"""
import json, os, sys
import torch
from transformers import AutoModelForCausalLM

tokens = torch.tensor([[(31 * i * i + 7 * i) % 37 for i in range(601)]])
found = {}
for family in sorted(os.listdir(sys.argv[1])):
    model = AutoModelForCausalLM.from_pretrained(os.path.join(sys.argv[1], family), dtype=torch.float32,
                                                 max_position_embeddings=640, attn_implementation="eager")
    model.eval()
    logprobs = model(tokens).logits[0, :-1].log_softmax(-1).gather(1, tokens[0, 1:, None])[:, 0]
    logprobs.mean().backward()
    found[family] = dict(logprobs=[round(x, 6) for x in logprobs.tolist()],
                         gradientNorms={name: float(p.grad.norm()) for name, p in model.named_parameters()})
with open(sys.argv[2], "w") as out:
    out.write(json.dumps(found))
