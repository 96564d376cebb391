"""Makes golden/adapters/: LoRA adapters of PEFT on golden/checkpoints/qwen3, and what the adapted model computes.

Run as: python make_adapters.py GOLDEN_FOLDER. A and B are random; `expected.json` beside an adapter has
- logits of two sequences, in float32, rounded to 6 digits
- the summed cross-entropy of the next tokens, and the gradients of some A and B, rounded to 6 digits.
"""
import json, os, shutil, sys
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

golden = sys.argv[1]
everywhere = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
cases = {
    "everywhere": (LoraConfig(r=3, lora_alpha=5, target_modules=everywhere, task_type="CAUSAL_LM"), torch.float32),
    "some": (LoraConfig(r=2, lora_alpha=4, use_rslora=True, target_modules=["q_proj", "down_proj", "lm_head"],
                        layers_to_transform=None, task_type="CAUSAL_LM"), torch.bfloat16),
}
for name, (config, dtype) in cases.items():
    torch.manual_seed(3)
    base = AutoModelForCausalLM.from_pretrained(os.path.join(golden, "checkpoints", "qwen3"), dtype=torch.float32,
                                                attn_implementation="eager")
    model = get_peft_model(base, config).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "lora_" in key:
                p.copy_((torch.randn_like(p) * 0.3).to(dtype).float())
    tokens = torch.randint(0, 40, (2, 12))
    logits = model(tokens).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    loss.backward()
    gradients = {key.replace("base_model.model.", "").replace(".default", ""): [round(x, 6) for x in p.grad.flatten().tolist()]
                 for key, p in model.named_parameters()
                 if p.requires_grad and ("layers.1.mlp.down_proj" in key or "layers.0.self_attn.q_proj" in key or "lm_head" in key)}
    folder = os.path.join(golden, "adapters", name)
    shutil.rmtree(folder, ignore_errors=True)
    if dtype != torch.float32:
        for key, p in model.named_parameters():
            if "lora_" in key:
                p.data = p.data.to(dtype)
    model.save_pretrained(folder)
    os.remove(os.path.join(folder, "README.md"))
    file = os.path.join(folder, "adapter_config.json")
    saved = json.load(open(file))
    saved["base_model_name_or_path"] = "qwen3"
    json.dump(saved, open(file, "w"), indent=1)
    result = dict(tokens=tokens.tolist(), logits=[round(x, 6) for x in logits.flatten().tolist()],
                  loss=float(loss.detach()), gradients=gradients)
    json.dump(result, open(os.path.join(folder, "expected.json"), "w"))
    print(name, sorted(os.listdir(folder)))
