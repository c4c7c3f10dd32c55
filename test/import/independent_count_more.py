"""Counts what is in more programs' files, in another way than the importers: by what each line says, without any state."""
import json
import os
import re


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip().startswith("{")]


def counts(user=0, assistant=0, tool_calls=0, **more):
    return {"user": user, "assistant": assistant, "tool_calls": tool_calls, **more}


def copilot_cli(path):
    """The last total is of the whole session but for compactions; one call of the model may be several messages."""
    lines = [(line["type"], line["data"], line.get("agentId")) for line in lines_of(path)]
    of = lambda name: [(data, agent) for kind, data, agent in lines if kind == name]
    totals = [data.get("modelMetrics") or data["accountingSnapshot"]["modelMetrics"] for data, _ in of("session.shutdown")]
    spent = [model["usage"] for model in (totals[-1] if totals else {}).values()]
    spent += [data.get("compactionTokensUsed") or {} for data, _ in of("session.compaction_complete")]
    return counts(
        user=sum(1 for data, agent in of("user.message") if agent or not (data.get("source") or data.get("isAutopilotContinuation"))),
        assistant=len({data.get("apiCallId") or data["messageId"] for data, _ in of("assistant.message")}),
        tool_calls=len(of("tool.execution_complete")),
        errors=len(of("session.error")),
        input_tokens=sum(usage.get("inputTokens", 0) for usage in spent),
        output_tokens=sum(usage.get("outputTokens", 0) for usage in spent),
    )


def qwen_code(path):
    """What it tells of a call precedes the answer; where no answer follows, the call counts by itself."""
    lines = lines_of(path)
    shell = [line for line in lines if line["type"] == "user" and str(line["message"]["parts"][0].get("text")).startswith("I ran the following shell")]
    commands = [line for line in lines if (line.get("systemPayload") or {}).get("phase") == "invocation"]
    typed = [line for line in lines if line["type"] == "user" and line.get("subtype") in (None, "mid_turn_user_message", "agent_launch_prompt")]
    calls = []
    for line in lines:
        event = (line.get("systemPayload") or {}).get("uiEvent") or {}
        if event.get("event.name", "").endswith("api_response") and not event.get("subagent_name"):
            calls.append(("told", event["input_token_count"], event["output_token_count"]))
        elif line["type"] == "assistant" and ("usageMetadata" in line or not line.get("agentId")):
            usage = line.get("usageMetadata") or {}
            calls.append(("said", usage.get("promptTokenCount", 0), usage.get("candidatesTokenCount", 0)))
    counted = [call for at, call in enumerate(calls) if call[0] == "said" or [other[0] for other in calls[at + 1 : at + 2]] != ["said"]]
    parts = [part for line in lines for part in (line.get("message") or {}).get("parts", [])]
    said = [line for line in lines if line["type"] == "assistant" and ("usageMetadata" in line or not line.get("agentId"))]
    return counts(
        user=len(typed) - len(shell) + len(commands),
        assistant=len({line.get("uuid", number) for number, line in enumerate(said)}),
        tool_calls=sum(1 for part in parts if "functionResponse" in part) + len(shell),
        input_tokens=sum(call[1] for call in counted),
        output_tokens=sum(call[2] for call in counted),
    )


def cline(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    messages = document["messages"] if isinstance(document, dict) else document
    if path.endswith(".compaction.json"):
        return counts()
    kinds = lambda message: {block["type"] for block in message["content"]} if isinstance(message["content"], list) else {"text"}
    blocks = [block for message in messages for block in (message["content"] if isinstance(message["content"], list) else [])]
    metrics = [message.get("metrics") or {} for message in messages]
    return counts(
        user=sum(1 for message in messages if message["role"] == "user" and "text" in kinds(message)),
        assistant=sum(1 for message in messages if message["role"] == "assistant"),
        tool_calls=sum(1 for block in blocks if block["type"] == "tool_result"),
        input_tokens=sum(one.get("inputTokens", 0) for one in metrics),
        output_tokens=sum(one.get("outputTokens", 0) for one in metrics),
    )


def aider(path):
    """In these files an answer is whatever its tokens are told of."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    prompts = re.findall(r"(?:^|\n\n)((?:#### .*  \n)+)", text)
    shell = [prompt for prompt in prompts if re.match(r"#### (?:!|/run )", prompt)]
    number = lambda token: round(float(token.rstrip("k")) * (1000 if token.endswith("k") else 1))
    spent = re.findall(r"^> Tokens: ([\d.]+k?) sent, ([\d.]+k?) received", text, re.M)
    return counts(
        user=len(prompts) - len(shell),
        assistant=len(spent),
        tool_calls=len(shell),
        errors=len(re.findall(r"^> litellm\.", text, re.M)),
        input_tokens=sum(number(sent) for sent, _ in spent),
        output_tokens=sum(number(received) for _, received in spent),
    )


def kiro_cli(path):
    lines = lines_of(path)
    kinds = [line["kind"] for line in lines]
    results = [block for line in lines if line["kind"] == "ToolResults" for block in line["data"]["content"]]
    return counts(kinds.count("Prompt"), kinds.count("AssistantMessage"), len(results))


def goose(path):
    lines = [line for line in lines_of(path) if "content" in line]
    results = [block for line in lines for block in line["content"] if block["type"] == "toolResponse"]
    said = [line for line in lines if any(block["type"] != "toolResponse" for block in line["content"])]
    roles = [line["role"] for line in said]
    return counts(roles.count("user"), roles.count("assistant"), len(results))


def kimi_cli(path):
    lines = lines_of(path)
    if os.path.basename(path) == "context.jsonl":
        if os.path.exists(os.path.join(os.path.dirname(path), "wire.jsonl")):
            return counts()
        roles = [line["role"] for line in lines if not str(line.get("content")).startswith("<system")]
        return counts(roles.count("user"), roles.count("assistant"), roles.count("tool"))
    types = [line["message"]["type"] for line in lines if "message" in line]
    payloads = [line["message"]["payload"] for line in lines if "message" in line]
    # A step begins, and something comes of it.
    steps = sum(1 for at, name in enumerate(types) if name == "StepBegin" and types[at + 1 : at + 2] in (["ContentPart"], ["ToolCall"]))
    usages = [payload.get("token_usage") or {} for payload in payloads]
    return counts(
        user=types.count("TurnBegin"),
        assistant=steps,
        tool_calls=types.count("ToolResult"),
        input_tokens=sum(usage.get("input_other", 0) for usage in usages),
        output_tokens=sum(usage.get("output", 0) for usage in usages),
    )


def kimi_code(path):
    lines = lines_of(path)
    said = [line["message"] for line in lines if line["type"] == "context.append_message"]
    events = [line["event"] for line in lines if line["type"] == "context.append_loop_event"]
    origin = lambda message: (message.get("origin") or {}).get("kind", "user")
    return counts(
        user=sum(1 for message in said if message["role"] == "user" and origin(message) == "user"),
        assistant=sum(1 for message in said if message["role"] == "assistant")
        + len({event["stepUuid"] for event in events if "stepUuid" in event}),
        tool_calls=sum(1 for event in events if event["type"] == "tool.result"),
    )


def droid(path):
    said = [line["message"] for line in lines_of(path) if line["type"] == "message"]
    blocks = [block for message in said if isinstance(message["content"], list) for block in message["content"]]
    results = sum(1 for block in blocks if block["type"] == "tool_result")
    users = [message for message in said if message["role"] == "user"]
    typed = [message for message in users if isinstance(message["content"], str) or message["content"][-1]["type"] == "text"]
    return counts(len(typed), len(said) - len(users), results)


COUNTERS = {
    "copilot-cli": copilot_cli,
    "qwen-code": qwen_code,
    "cline": cline,
    "roo-code": cline,
    "aider": aider,
    "kiro-cli": kiro_cli,
    "goose": goose,
    "kimi-cli": kimi_cli,
    "kimi-code": kimi_code,
    "droid": droid,
}
