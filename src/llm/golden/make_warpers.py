"""Makes warpers.json: what the logits warpers of transformers leave of random distributions. Run as: python make_warpers.py > warpers.json"""
import json
import torch
from transformers.generation.logits_process import (LogitsProcessorList, MinPLogitsWarper, TemperatureLogitsWarper,
                                                    TopKLogitsWarper, TopPLogitsWarper)

generator = torch.Generator().manual_seed(1)
cases = []
for settings in [{"topK": 5}, {"topP": 0.7}, {"minP": 0.1}, {"topK": 8, "topP": 0.6}, {"topK": 12, "minP": 0.05},
                 {"topK": 10, "topP": 0.9, "minP": 0.2}, {"topP": 0.95, "minP": 0.02}]:
    for temperature in (0.6, 1.0, 1.7):
        # Rounded as they are written, so that both sides see the same numbers.
        logits = [round(x, 4) for x in (torch.randn(30, generator=generator) * 2).tolist()]
        warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
        if "topK" in settings:
            warpers.append(TopKLogitsWarper(settings["topK"]))
        if "topP" in settings:
            warpers.append(TopPLogitsWarper(settings["topP"]))
        if "minP" in settings:
            warpers.append(MinPLogitsWarper(settings["minP"]))
        probabilities = warpers(None, torch.tensor([logits])).softmax(-1)[0]
        kept = (probabilities > 0).nonzero()[:, 0].tolist()
        cases.append(dict(logits=logits, temperature=temperature, settings=settings, kept=kept,
                          probabilities=[round(probabilities[i].item(), 7) for i in kept]))
print(json.dumps(cases))
