"""A whole step of TRL's GRPOTrainer on a Qwen2 of 0.9M parameters: 8 prompts of 16 tokens, 8 completions each of 64 tokens, drawn
at temperature 1, rewarded with the share of even tokens, one AdamW step with the token mean of DAPO. Its default of computing
activations again is turned off, since it costs time here. Answers each line `N` with the seconds of N steps and the mean
reward of the last. Arguments: threads."""
import os
import sys
import tempfile
import time
import warnings

os.environ.update(TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1", TQDM_DISABLE="1")
warnings.filterwarnings("ignore")
import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
words = {f"t{i}": i for i in range(1024)}
tokenizer = Tokenizer(WordLevel(words, unk_token="t0"))
tokenizer.pre_tokenizer = WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="t0", eos_token="t1")
model = Qwen2ForCausalLM(Qwen2Config(
    vocab_size=1024, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4,
    num_key_value_heads=4, tie_word_embeddings=True, max_position_embeddings=1024, bos_token_id=None, eos_token_id=1,
    pad_token_id=0))
prompts = Dataset.from_list([
    {"prompt": " ".join(f"t{2 + (row * 7919 + t * 104729) % 1022}" for t in range(16))} for row in range(512)])
reports = sys.stdout
sys.stdout = sys.stderr
reward = 0.0


def share_of_even(completion_ids, **_):
    global reward
    rewards = [sum(token % 2 == 0 for token in ids) / len(ids) for ids in completion_ids]
    assert all(len(ids) == 64 for ids in completion_ids)
    reward = sum(rewards) / len(rewards)
    return rewards


class Turns(TrainerCallback):
    left, begin = 0, None

    def on_step_begin(self, args, state, control, **_):
        if self.left == 0:
            if self.begin is not None:
                print(time.perf_counter() - self.begin, reward, file=reports, flush=True)
            line = sys.stdin.readline()
            if line == "":
                sys.exit(0)
            self.left = int(line.split()[0])
            self.begin = time.perf_counter()
        self.left -= 1


with tempfile.TemporaryDirectory() as folder:
    GRPOTrainer(
        model=model, reward_funcs=share_of_even, train_dataset=prompts, processing_class=tokenizer, callbacks=[Turns()],
        args=GRPOConfig(
            output_dir=folder, per_device_train_batch_size=64, num_generations=8, max_completion_length=64,
            generation_kwargs={"min_new_tokens": 64}, max_steps=100_000, learning_rate=1e-3, lr_scheduler_type="constant",
            temperature=1.0, top_p=1.0, top_k=0, beta=0.0, epsilon=0.2, loss_type="dapo", max_grad_norm=1.0,
            gradient_checkpointing=False, bf16=False, use_cpu=True, report_to="none", save_strategy="no",
            logging_strategy="no", disable_tqdm=True, mask_truncated_completions=False, seed=0,
        ),
    ).train()
