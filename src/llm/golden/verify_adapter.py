"""Whether an adapter that Agoge trained gives the same logits in PEFT: python src/llm/golden/verify_adapter.py, at the root of the
repository. Makes a randomly initialised Qwen3 checkpoint with transformers, trains LoRA on it (testing/train-adapter.ts), loads base and
adapter with PEFT and the merged model with transformers, and prints the largest differences of logits."""
import json, os, subprocess, tempfile
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

folder = tempfile.mkdtemp(prefix="agoge-adapter-")
base, adapter = os.path.join(folder, "base"), os.path.join(folder, "adapter")
torch.manual_seed(0)
config = Qwen3Config(vocab_size=96, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                     intermediate_size=128, max_position_embeddings=128, tie_word_embeddings=False, initializer_range=0.08)
Qwen3ForCausalLM(config).save_pretrained(base)
subprocess.run(["node", "--import", "tsx", "src/llm/testing/train-adapter.ts", base, adapter], check=True)

ours = json.load(open(os.path.join(adapter, "ours.json")))
tokens, logits = torch.tensor(ours["tokens"]), torch.tensor(ours["logits"])
print(f"loss {ours['losses'][0]:.3f} -> {ours['losses'][-1]:.3f}")


def load(path):
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()


with torch.no_grad():
    plain = load(base)(tokens).logits.flatten()
    peft = PeftModel.from_pretrained(load(base), adapter).eval()(tokens).logits.flatten()
    merged = load(adapter + "-merged")(tokens).logits.flatten()
print(f"adapter in PEFT: {(peft - logits).abs().max():.2e}; merged model: {(merged - logits).abs().max():.2e}; "
      f"without the adapter: {(plain - logits).abs().max():.2f}; largest logit {logits.abs().max():.1f}")
assert (peft - logits).abs().max() < 1e-4 and (merged - logits).abs().max() < 1e-4
