"""One training step (forward, backward, AdamW) of the 0.9M model on 32x128 tokens. Answers each line `N` on standard
input with the seconds that N steps took. Arguments: threads."""
import sys
import time
import torch
import torch.nn.functional as F
from llama import Llama

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
model = Llama()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
ids = torch.randint(0, 1024, (32, 129))


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
