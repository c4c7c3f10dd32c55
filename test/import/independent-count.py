"""Counts what is in other programs' files without any code of Hansard's: a line of JSON for each file it is given.

With `usage` before the files, a line for each format instead: its calls and their tokens, over all of its files together.
"""
import json
import os
import re
import sys

from independent_count_more import COUNTERS

INJECTED = re.compile(
    r"<(command-[a-z-]+|local-command-[a-z-]+|bash-[a-z-]+|task-notification|system-reminder|ide_[a-z_]+)\b[\s\S]*?(</\1>|$)"
)
CODEX_CONTEXT = re.compile(r"^\s*(<(environment_context|user_instructions|user_action|turn_aborted)\b|# AGENTS\.md)")
CODEX_COMMAND = "<user_shell_command>"


def lines_of(path):
    with open(path, "rb") as file:
        for raw in file.read().split(b"\n"):
            try:
                value = json.loads(raw.decode("utf-8-sig"))
            except ValueError:
                continue
            if isinstance(value, dict) and value:
                yield value


def blocks_of(content):
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found = content if isinstance(content, list) else []
    return [block if isinstance(block, dict) else {"type": "text", "text": str(block)} for block in found]


def claude(path):
    """One answer is one message id; of its usage the greatest counts; a prompt is what is left without injected text.

    A slash command is a prompt, and a command for the shell a call of a tool. Of a total, what the answers do not account for
    since the total before was spent on a compaction between the two.
    """
    users, answers, results, errors = set(), {}, set(), 0
    total, seen_before, compacted, left = {}, set(), False, {"input_tokens": 0, "output_tokens": 0}
    for number, line in enumerate(lines_of(path)):
        message = line.get("message") if isinstance(line.get("message"), dict) else {}
        blocks = blocks_of(message.get("content"))
        key = line.get("uuid") or number
        line.setdefault("type", message.get("role"))
        if line.get("type") == "system" and line.get("subtype") == "api_error":
            errors += 1
        elif line.get("type") == "assistant" and line.get("isApiErrorMessage"):
            errors += 1
        elif line.get("type") == "assistant" and message:
            usage = message.get("usage") or {}
            seen = answers.setdefault((line.get("isSidechain"), message.get("id") or key), {})
            if usage.get("output_tokens", 0) >= seen.get("output_tokens", 0) and message.get("model") != "<synthetic>":
                seen.update(usage)
        elif line.get("subtype") == "compact_boundary":
            compacted = True
        elif line.get("type") == "attachment" and (line.get("attachment") or {}).get("type") == "queued_command":
            if (line["attachment"].get("commandMode") or "prompt") == "prompt" and line["attachment"].get("prompt"):
                users.add(key)
        elif line.get("type") == "cost-state":
            now = {name: sum(usage.get(source, 0) for usage in line["modelUsage"].values())
                   for name, source in (("input_tokens", "inputTokens"), ("output_tokens", "outputTokens"))}
            new = [usage for answer, usage in answers.items() if answer not in seen_before]
            if compacted:
                for name in now:
                    spent = sum(usage.get(name, 0) for usage in new)
                    left[name] += max(0, now[name] - total.get(name, 0) - spent)
            total, seen_before, compacted = now, set(answers), False
        elif line.get("type") == "user" and message:
            text = "\n".join(block.get("text", "") for block in blocks)
            if not line.get("isMeta") and "<command-name>" in text:
                users.add(key)
                continue
            if "<bash-input>" in text:
                results.add(key)
                continue
            found = [block for block in blocks if block.get("type") == "tool_result"]
            results.update((block.get("tool_use_id") or (key, index)) for index, block in enumerate(found))
            rest = [block for block in blocks if block.get("type") != "tool_result"]
            said = [block for block in rest if INJECTED.sub("", block.get("text", "-")).strip()]
            is_empty = not blocks and message.get("content", 0) in ("", None)
            origin = (line.get("origin") or {}).get("kind", "human") if isinstance(line.get("origin"), dict) else "human"
            is_own = line.get("isMeta") or line.get("isCompactSummary") or line.get("promptSource") == "system"
            is_own = is_own or origin != "human"
            if not is_own and (said or is_empty):
                users.add(key)
    tokens = {
        name: sum(usage.get(name, 0) for usage in answers.values()) + left[name] for name in ("input_tokens", "output_tokens")
    }
    return {"user": len(users), "assistant": len(answers), "tool_calls": len(results), "errors": errors, **tokens}


def codex(path):
    """Items and events tell the same text; a sum of tokens that has not changed is the same call again."""
    users, results, total, tokens = [], 0, None, {"input_tokens": 0, "output_tokens": 0}
    for line in lines_of(path):
        payload = line.get("payload") or {}
        if line.get("type") == "response_item" and payload.get("role") == "user":
            text = "\n".join(block.get("text", "") for block in blocks_of(payload.get("content")))
            if text.startswith(CODEX_COMMAND):
                results += "<result>" in text
            elif not CODEX_CONTEXT.match(text):
                users.append(("item", text.strip()))
        elif line.get("type") == "event_msg" and payload.get("type") == "user_message":
            users.append(("event", payload.get("message", "").strip()))
        elif str(payload.get("type", "")).endswith("_output") and line.get("type") == "response_item":
            results += 1
        elif payload.get("type") == "token_count":
            info = payload.get("info") or {}
            last = info.get("last_token_usage") or ({} if info else payload)
            if info.get("total_token_usage") is None or info.get("total_token_usage") != total:
                total = info.get("total_token_usage")
                for name in tokens:
                    tokens[name] += last.get(name, 0)
    texts = {text for _, text in users}
    count = sum(max(users.count(("item", text)), users.count(("event", text))) for text in texts)
    return {"user": count, "tool_calls": results, **tokens}


def pi(path):
    """What was said on a branch that was left was said and paid for all the same."""
    counts = {"user": 0, "assistant": 0, "tool_calls": 0, "input_tokens": 0, "output_tokens": 0}
    for line in lines_of(path):
        message = line.get("message") or {}
        role = message.get("role")
        if role in ("user", "assistant"):
            counts[role] += 1
        elif role in ("toolResult", "bashExecution", "tool"):
            counts["tool_calls"] += 1
        usage = message.get("usage") or {}
        counts["input_tokens"] += usage.get("input", 0)
        counts["output_tokens"] += usage.get("output", 0)
    return counts


def gemini(path):
    with open(path, encoding="utf-8") as file:
        messages = json.load(file)["messages"]
    calls = [call for message in messages for call in message.get("toolCalls", [])]
    return {
        "user": sum(message["type"] == "user" for message in messages),
        "assistant": sum(message["type"] in ("gemini", "model") for message in messages),
        "tool_calls": sum(call.get("status") in ("success", "error") for call in calls),
        "errors": sum(message["type"] == "error" for message in messages),
    }


RESPONSE_BODY = ".response.json"
NAMES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def claude_calls(paths):
    """A call is known by the ids of its answer and of its request, whichever file has it and how often."""
    calls = {}
    for path in (path for path in paths if path.endswith(RESPONSE_BODY)):
        # The provider's own answer, named after its request. Some calls, such as a compaction, stand nowhere else.
        with open(path, encoding="utf-8") as file:
            body = json.load(file)
        calls[(body["id"], os.path.basename(path).removesuffix(RESPONSE_BODY))] = body["usage"]
    for path in (path for path in paths if not path.endswith(RESPONSE_BODY)):
        for number, line in enumerate(lines_of(path)):
            message = line.get("message") if isinstance(line.get("message"), dict) else {}
            usage = message.get("usage") or {}
            if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>" or "output_tokens" not in usage:
                continue
            key = (message.get("id") or (path, line.get("uuid") or number), line.get("requestId"))
            if key not in calls or usage["output_tokens"] >= calls[key]["output_tokens"]:
                calls[key] = usage
    source = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return [[usage.get(name) or 0 for name in source] for usage in calls.values()]


def codex_calls(paths):
    """Each change of the sum is a call; a copy of a session has the same sums."""
    calls = {}
    for path in paths:
        total, session = None, path
        for line in lines_of(path):
            payload = line.get("payload") or {}
            if line.get("type") == "session_meta":
                session = payload.get("id") or session
            if payload.get("type") != "token_count":
                continue
            info = payload.get("info") or {}
            last = info.get("last_token_usage") or ({} if info else payload)
            sums = json.dumps(info.get("total_token_usage"))
            # After a compaction it counts from zero, which is no call.
            if last.get("input_tokens") and (sums == "null" or sums != total):
                total = sums
                counts = [last.get(name, 0) for name in ("input_tokens", "output_tokens", "cached_input_tokens")] + [0]
                calls[(session, sums if sums != "null" else len(calls))] = counts
    return list(calls.values())


def pi_calls(paths):
    calls = {}
    for path in paths:
        for number, line in enumerate(lines_of(path)):
            usage = (line.get("message") or {}).get("usage") or {}
            counts = [usage.get(name, 0) for name in ("input", "output", "cacheRead", "cacheWrite")]
            # What was left on a branch was spent all the same.
            if any(counts):
                calls[(path, number)] = counts
    return list(calls.values())


if sys.argv[1] == "usage":
    for format_name, counter in (("claude-code", claude_calls), ("codex", codex_calls), ("pi", pi_calls)):
        found = counter([path for name, path in (argument.split("=", 1) for argument in sys.argv[2:]) if name == format_name])
        sums = {name: sum(call[index] for call in found) for index, name in enumerate(NAMES)}
        # Cached tokens are input, too, whether the source counts them so or not.
        if format_name != "codex":
            sums["input_tokens"] += sums["cache_read_tokens"] + sums["cache_write_tokens"]
        print(json.dumps({"client": format_name, "calls": len(found), **sums}))
    sys.exit()

for argument in sys.argv[1:]:
    format_name, file_path = argument.split("=", 1)
    counter = {"claude-code": claude, "codex": codex, "pi": pi, "gemini-cli": gemini, **COUNTERS}[format_name]
    print(json.dumps(counter(file_path)))
