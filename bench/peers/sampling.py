"""Batched sampling of the identical architecture with `transformers` generate: 32 prompt tokens, 64 new ones, drawn at
temperature 1. Answers each line `N` with the seconds of N calls. Arguments: threads, batch."""
import sys
import time
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
batch = int(sys.argv[2])
config = LlamaConfig(vocab_size=1024, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4,
                     num_key_value_heads=4, tie_word_embeddings=True, max_position_embeddings=1024,
                     bos_token_id=None, eos_token_id=None, pad_token_id=0)
model = LlamaForCausalLM(config).eval()
ids = torch.randint(0, 1024, (batch, 32))
mask = torch.ones_like(ids)

for line in sys.stdin:
    begin = time.perf_counter()
    with torch.no_grad():
        for _ in range(int(line)):
            out = model.generate(ids, attention_mask=mask, do_sample=True, top_k=0, top_p=1.0, temperature=1.0,
                                 min_new_tokens=64, max_new_tokens=64)
            assert out.shape == (batch, 96)
    print(time.perf_counter() - begin, flush=True)
