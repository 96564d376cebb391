"""One training step (forward, backward, AdamW), unless told of the 0.9M model on 32x128 tokens. Answers each line `N` on standard
input with the seconds that N steps took. Arguments: threads, and as JSON width, layers, heads, inner, rows, length, and the
rank of a LoRA adapter on every matrix of the blocks, which PEFT then trains in place of all weights."""
import json
import sys
import time
import torch
import torch.nn.functional as F
from llama import Llama

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
sizes = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
rows, length = sizes.pop("rows", 32), sizes.pop("length", 128)
rank = sizes.pop("rank", None)
model = Llama(**sizes, positions=max(1024, length))
if rank is not None:
    from peft import LoraConfig, get_peft_model

    targets = ["q", "k", "v", "o", "gate", "up", "down"]
    model = get_peft_model(model, LoraConfig(r=rank, lora_alpha=32, target_modules=targets))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, fused=True)
ids = torch.randint(0, 1024, (rows, length + 1))


def step():
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 1024), ids[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


for line in sys.stdin:
    begin = time.perf_counter()
    for _ in range(int(line)):
        step()
    print(time.perf_counter() - begin, flush=True)
