"""Golden values of the scalar head: transformers' LlamaForSequenceClassification over golden/checkpoints/llama3.

python make_scalar.py > scalar.json

`values` are hidden states after the last norm times `score.weight`, one a token; `gradientNorms` belong to sum(slope * value).
The number at the last token is what the classifier itself says.
"""
import json, math, os
import torch
from transformers import LlamaForSequenceClassification

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checkpoints", "llama3")
model = LlamaForSequenceClassification.from_pretrained(folder, num_labels=1, dtype=torch.float32).eval()
model.config.pad_token_id = 39
score = torch.tensor([[math.sin(1.0 + i) for i in range(16)]])
model.score.weight.data.copy_(score)
tokens = [[5, 17, 3, 22, 9, 31, 2], [8, 1, 30, 14]]
slopes = [[0.0, 0.5, 0.0, -1.0, 0.25, 0.0, 2.0], [1.0, 0.0, 0.0, -0.5]]
values, loss = [], 0.0
for row, slope in zip(tokens, slopes):
    ids = torch.tensor([row])
    value = model.score(model.model(ids).last_hidden_state)[0, :, 0]
    assert torch.allclose(value[-1], model(ids).logits[0, 0])
    values.append([round(x, 7) for x in value.tolist()])
    loss = loss + (torch.tensor(slope) * value).sum()
loss.backward()
norms = {name.removeprefix("model.") if name == "score.weight" else name: float(p.grad.norm())
         for name, p in model.named_parameters()}
print(json.dumps(dict(score=score[0].tolist(), tokens=tokens, slopes=slopes, values=values, gradientNorms=norms)))
