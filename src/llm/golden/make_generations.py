"""Makes generations.json: greedy tokens that transformers' `generate` gives a left-padded batch of prompts of different lengths, for a
folder of each family in checkpoints/, in float32 with a window of 160. Prompts are random ones after which the best logit leads the
second by at least `margin` at every token, so that rounding decides nothing. Run as: python make_generations.py FOLDER > generations.json"""
import json, os, sys
import torch
from transformers import AutoModelForCausalLM

lengths, fresh, margin = (1, 5, 12, 23, 41, 60), 72, 2e-3
torch.set_num_threads(1)
torch.set_grad_enabled(False)
families = {}
for name in ('llama3', 'qwen2', 'qwen3'):
    model = AutoModelForCausalLM.from_pretrained(os.path.join(sys.argv[1], name), dtype=torch.float32, attn_implementation="eager").eval()
    model.config.max_position_embeddings = 160
    options = dict(do_sample=False, min_new_tokens=fresh, max_new_tokens=fresh, eos_token_id=None, pad_token_id=39)
    generator = torch.Generator().manual_seed(7)
    prompts = []
    for length in lengths:
        # Of many, the one with the most different tokens: small models soon repeat themselves.
        many = torch.randint(2, 40, (32, length), generator=generator)
        made = model.generate(many, attention_mask=torch.ones_like(many), **options)
        best = model(made).logits[:, length - 1:-1].topk(2).values
        safe = ((best[..., 0] - best[..., 1]).amin(1) >= margin).tolist()
        kinds = [len(set(row[length:])) if keep else 0 for row, keep in zip(made.tolist(), safe)]
        assert max(kinds) > 0, f"{name}: no prompt of {length} tokens"
        prompts.append(many[kinds.index(max(kinds))].tolist())
    longest = max(lengths)
    padded = torch.tensor([[39] * (longest - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    tokens = model.generate(padded, attention_mask=mask, **options)[:, longest:].tolist()
    for prompt, row in zip(prompts, tokens):
        alone = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), **options)
        assert alone[0, len(prompt):].tolist() == row
    families[name] = [dict(prompt=p, tokens=t) for p, t in zip(prompts, tokens)]
    print(name, [len(set(t)) for t in tokens], file=sys.stderr)
print(json.dumps(families))
