"""Makes the folders of golden/checkpoints/: one small randomly initialised checkpoint of each family with transformers, and what it computes.

Run as: python make_checkpoints.py FOLDER. Weights are normal, rounded to the type they are stored in; `expected.json` has
- logits of two sequences, in float32, rounded to 6 digits
- the summed cross-entropy of the next tokens and the L2 norm of its gradient by tensor
- greedy continuations of prompts, whose best and second best logits are never closer than `margin`.
"""
import json, os, shutil, sys
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

base = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=24, max_position_embeddings=64, pad_token_id=None, bos_token_id=0, eos_token_id=1)
llama3 = dict(rope_type="llama3", rope_theta=5000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=24)
yarn = dict(rope_type="yarn", rope_theta=5000.0, factor=4.0, original_max_position_embeddings=16)
cases = {
    "llama3": (LlamaForCausalLM, LlamaConfig(**base, head_dim=12, tie_word_embeddings=False, rms_norm_eps=1e-5,
                                             rope_parameters=llama3), torch.float32, 16_000),
    "llama-bias": (LlamaForCausalLM, LlamaConfig(**base, attention_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-5,
                                                 rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=3.0)),
                   torch.float16, None),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**base, tie_word_embeddings=True, rms_norm_eps=1e-6,
                                            rope_parameters=dict(rope_type="default", rope_theta=1000000.0)), torch.bfloat16, None),
    "qwen2-yarn": (Qwen2ForCausalLM, Qwen2Config(**base, tie_word_embeddings=False, rms_norm_eps=1e-6, rope_parameters=yarn),
                   torch.float16, None),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**base, head_dim=8, tie_word_embeddings=False, rms_norm_eps=1e-6,
                                            rope_parameters=dict(rope_type="default", rope_theta=1000000.0)), torch.bfloat16, 8_000),
    "qwen3-bias": (Qwen3ForCausalLM, Qwen3Config(**base, head_dim=6, attention_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-6,
                                                 rope_parameters=dict(rope_type="default", rope_theta=10000.0)), torch.bfloat16, None),
}


def expected(model, margin):
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(0, 40, (2, 40), generator=generator)
    logits = model(tokens).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    loss.backward()
    greedy = []
    for length in (1, 7, 30):
        prompt = torch.randint(2, 40, (length,), generator=generator).tolist()
        row = list(prompt)
        while len(row) < length + 20 and (len(row) == length or row[-1] != 1):
            with torch.no_grad():
                best = model(torch.tensor([row])).logits[0, -1].topk(2)
            if float(best.values[0] - best.values[1]) < margin:
                return None
            row.append(int(best.indices[0]))
        made = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, length, dtype=torch.long), do_sample=False,
                              max_new_tokens=20, pad_token_id=39)[0].tolist()
        assert made == row, (made, row)
        greedy.append({"prompt": prompt, "tokens": row[length:]})
    norms = {name: float(p.grad.norm()) for name, p in model.named_parameters()}
    return dict(tokens=tokens.tolist(), logits=[round(x, 6) for x in logits.flatten().tolist()], loss=float(loss.detach()),
                gradientNorms=norms, margin=margin, greedy=greedy)


for name, (kind, config, dtype, shard) in cases.items():
    folder = os.path.join(sys.argv[1], name)
    for seed in range(100):
        torch.manual_seed(seed)
        config._attn_implementation = "eager"
        model = kind(config)
        with torch.no_grad():
            for key, p in model.named_parameters():
                deviation = 0.3 if "bias" in key or "norm" in key else 0.25
                p.copy_((torch.randn_like(p) * deviation + (1 if "norm" in key else 0)).to(dtype).float())
        model.eval()
        result = expected(model, 2e-3)
        if result is not None and min(len(g["tokens"]) for g in result["greedy"]) > 2:
            break
    shutil.rmtree(folder, ignore_errors=True)
    model.to(dtype).save_pretrained(folder, **({} if shard is None else {"max_shard_size": shard}))
    for extra in ("generation_config.json",):
        os.remove(os.path.join(folder, extra))
    with open(os.path.join(folder, "expected.json"), "w") as out:
        out.write(json.dumps(result))
    print(name, seed, sorted(os.listdir(folder)), [len(g["tokens"]) for g in result["greedy"]])
