"""Makes golden/chat-templates.json: conversations rendered by `transformers`' apply_chat_template. Run as: python make_chat_templates.py FILE.

The templates are ours, in the manner of the published ones: everything that those of Llama 3 and Qwen use occurs in them.
"""
import json, sys
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

im = r"""{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] }}{%- else %}{{- 'Be helpful.' }}{%- endif %}
    {{- "\n\nTools, one a line:" }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(last=messages|length - 1, open=true) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.open and message.role == "user" and message.content is string and not message.content.startswith('<tool_response>') %}
        {%- set ns.open = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {%- set content = message.content %}
        {%- if message.role == 'assistant' and '</think>' in content and loop.index0 <= ns.last %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}{{- '\n' + message.content }}{%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '\n<tool_call>\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
            {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\n<tool_response>\n' }}{{- message.content }}{{- '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}
"""
headers = r"""{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}
        {{- '{"name": "' + tool_call.name + '", "parameters": ' }}{{- tool_call.arguments | tojson }}{{- "}<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\n\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}
"""
tool = {"type": "function", "function": {"name": "read_file", "description": "Reads a file: \"text\", <b>é</b> & 日本.", "parameters": {
    "type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
    "required": ["path"], "additionalProperties": False}}}
call = lambda **arguments: {"type": "function", "function": {"name": "read_file", "arguments": arguments}}
short = [{"role": "user", "content": "  hi there \n"}]
system = [{"role": "system", "content": " Be brief. "}, *short]
tools = [*system, {"role": "assistant", "content": "", "tool_calls": [call(path="/a/é.txt", lines=[1, 2], x=None, y=1.5, z=True, w="it's \"q\" <&>")]},
         {"role": "tool", "content": "line 1\nline 2"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nIt says so."}]
two = [*system, {"role": "assistant", "content": "Both.", "tool_calls": [call(path="/a"), call(path="/b")]},
       {"role": "tool", "content": "a"}, {"role": "tool", "content": "b"}]
structured = [*short, {"role": "assistant", "tool_calls": [call(path="/a")]}, {"role": "tool", "content": {"ok": True, "n": [1, 2.5]}}]
cases = {
    "im": [(short, {}), (system, {"add_generation_prompt": True}), (tools, {"tools": [tool]}), (two, {"tools": [tool, tool], "add_generation_prompt": True}),
           (short, {"add_generation_prompt": True, "enable_thinking": False}), ([*tools, *short], {})],
    "headers": [(short, {}), (system, {"add_generation_prompt": True}), (tools, {"tools": [tool], "add_generation_prompt": True}),
                (structured, {"tools": [tool]})],
}
refused = {"headers": two}
result = {}
for name, template in dict(im=im, headers=headers).items():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), bos_token="<|begin_of_text|>", eos_token="<|im_end|>")
    tokenizer.chat_template = template
    rendered = [{"messages": m, "options": o, "text": tokenizer.apply_chat_template(m, tokenize=False, **o)} for m, o in cases[name]]
    result[name] = {"template": template, "cases": rendered}
    if name in refused:
        try:
            tokenizer.apply_chat_template(refused[name], tokenize=False)
            raise SystemExit("not refused")
        except Exception as error:
            result[name]["refused"] = {"messages": refused[name], "message": str(error)}
with open(sys.argv[1], "w") as out:
    out.write(json.dumps(result, indent=1, ensure_ascii=False))
print("ok")
