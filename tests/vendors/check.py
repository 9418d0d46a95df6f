"""Holds what the app says to each provider against that provider's own client.

The exchanges are those of the providers' package: a request's body, the events that come back, and the answer that they
are for the app. Of each, three things must hold:

- the body is one that the client's types allow, whole and without anything that they do not know, and so is every body
  that is asked with in its place when it is refused;
- so is every event;
- the client, given the same body, sends the same body to the same place; and reads the same bytes as the same answer.

The tests of the providers and of the app keep what their own fake servers were asked and what those answered, in the
file that TEPA_BODIES names. Each body and each answer in it must be one that the client's types allow, too.

All traffic stays on this machine. The last line counts: N passed, N failed.
"""

import copy
import functools
import inspect
import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anthropic
import openai
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google import genai
from google.genai import types as gemini
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, TypeAdapter

TOP = Path(__file__).resolve().parents[2]
PROVIDERS = TOP / "src-tauri/crates/providers"
KEY = "sk-canary-for-loopback"


# ---- Types ----------------------------------------------------------------------------------------------------------


@functools.cache
def reader(kind):
    """Kept, since what it reads late it reads with itself."""
    return TypeAdapter(kind)


def plain(value):
    """What was understood, as plain data: types that are read late are read now, and nothing is added."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or hasattr(value, "__next__"):
        return [plain(part) for part in value]
    return value


def unknown(value, path=""):
    """The fields of a model and all below it that its type does not know."""
    if isinstance(value, BaseModel):
        yield from (f"{path}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unknown(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from unknown(part, f"{path}[{index}]")


def same(found, expected):
    assert found == expected, f"\n  found    {json.dumps(found, ensure_ascii=False)}\n  expected {json.dumps(expected, ensure_ascii=False)}"


def check_typed(kind, body):
    same(plain(reader(kind).validate_python(copy.deepcopy(body))), body)


def check_gemini_body(body):
    parts = {
        "systemInstruction": gemini.Content,
        "contents": list[gemini.Content],
        "tools": list[gemini.Tool],
        "toolConfig": gemini.ToolConfig,
        "generationConfig": gemini.GenerationConfig,
    }
    same(set(body) - set(parts), set())
    for name, part in body.items():
        # Signatures are bytes to the client, and base64 on the wire; enums are written as they are.
        check_typed(parts[name], part)


def check_event(kind, event):
    found = reader(kind).validate_python(event)
    same(list(unknown(found)), [])


# ---- A server -------------------------------------------------------------------------------------------------------


class Loopback(BaseHTTPRequestHandler):
    """Sends an exchange's events, and remembers what it was asked."""

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        self.server.seen = (self.path, dict(self.headers.items()), json.loads(self.rfile.read(length)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", "req_01")
        self.send_header("x-request-id", "req_01")
        self.end_headers()
        for event in self.server.events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            sent = f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
            # In pieces, and through the middle of characters.
            for start in range(0, len(sent), 7):
                self.wfile.write(sent[start : start + 7])
        self.close_connection = True

    def log_message(self, *_):
        pass


def talk(exchange, ask):
    """What the client made of the events, and what it sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Loopback)
    server.events = exchange["events"]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        answer = ask(f"http://127.0.0.1:{server.server_port}", copy.deepcopy(exchange["body"]), exchange["request"])
        return answer, server.seen
    finally:
        server.shutdown()
        server.server_close()


# ---- The clients ----------------------------------------------------------------------------------------------------


def answer_of_anthropic(url, body, request):
    client = anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0)
    body.pop("stream")
    with client.messages.stream(**body) as stream:
        message = stream.get_final_message()
    shape = (request["responseSchema"] or {}).get("name")
    text, calls, thoughts = "", [], []
    for block in message.content:
        if block.type == "text":
            text += block.text
        elif block.type in ("thinking", "redacted_thinking"):
            thoughts.append(plain(block))
        elif block.name == shape:
            text += json.dumps(block.input, separators=(",", ":"))
        else:
            calls.append(call(block.id, block.name, block.input, thoughts))
            thoughts = []
    usage = message.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    thought = usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else 0
    finish = {"model_context_window_exceeded": "max_tokens"}.get(message.stop_reason, message.stop_reason)
    if shape and finish == "tool_use":
        finish = "end_turn"
    if finish == "refusal" and not text:
        text = message.stop_details.explanation
    tokens = counted(usage.input_tokens + cached + written, usage.output_tokens, cached, written, thought)
    return answer(text, calls, finish, tokens, message.model)


def answer_of_openai(url, body, request):
    client = openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
    last = list(client.responses.create(**body))[-1].response
    text, refusal, calls, thoughts = "", "", [], []
    for item in last.output:
        if item.type == "message":
            text += "".join(part.text for part in item.content if part.type == "output_text")
            refusal += "".join(part.refusal for part in item.content if part.type == "refusal")
        elif item.type == "reasoning":
            thoughts.append({name: part for name, part in plain(item).items() if name != "status"})
        elif item.type == "function_call":
            calls.append(call(item.call_id, item.name, json.loads(item.arguments), thoughts))
            thoughts = []
    reason = last.incomplete_details and last.incomplete_details.reason
    ends = {"max_output_tokens": "max_tokens", "content_filter": "content_filter"}
    finish = ends.get(reason) or (refusal and "refusal") or (calls and "tool_use") or "end_turn"
    usage, read = last.usage, last.usage.input_tokens_details
    thought = usage.output_tokens_details.reasoning_tokens
    tokens = counted(usage.input_tokens, usage.output_tokens, read.cached_tokens, read.cache_write_tokens, thought)
    return answer(text or refusal, calls, finish, tokens, last.model)


def answer_of_chat(url, body, request):
    client = openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)
    body.pop("stream")
    with client.chat.completions.stream(**body) as stream:
        for _ in stream:
            pass
        last = stream.current_completion_snapshot
    choice, usage = last.choices[0], last.usage
    message = choice.message
    calls = [call(one.id, one.function.name, json.loads(one.function.arguments), None) for one in message.tool_calls or []]
    ends = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "content_filter"}
    finish = "refusal" if message.refusal else ends[choice.finish_reason]
    cached = usage.prompt_tokens_details.cached_tokens
    tokens = counted(usage.prompt_tokens, usage.completion_tokens, cached, 0, usage.completion_tokens_details.reasoning_tokens)
    return answer(message.content or message.refusal or "", calls, finish, tokens, last.model)


def answer_of_gemini(url, body, request):
    client = genai.Client(api_key=KEY, vertexai=False, http_options=gemini.HttpOptions(base_url=url))
    config = {**body.get("generationConfig", {})}
    config.update({name: body[name] for name in ("systemInstruction", "tools", "toolConfig") if name in body})
    config = gemini.GenerateContentConfig.model_validate(config)
    config.automatic_function_calling = gemini.AutomaticFunctionCallingConfig(disable=True)
    contents = [gemini.Content.model_validate(part) for part in body["contents"]]
    text, calls, finish, tokens, model = "", [], None, None, None
    stream = client.models.generate_content_stream(model=request["model"], contents=contents, config=config)
    for chunk in stream:
        model, usage = chunk.model_version, chunk.usage_metadata
        thought = usage.thoughts_token_count or 0
        tokens = counted(
            usage.prompt_token_count + (usage.tool_use_prompt_token_count or 0),
            (usage.candidates_token_count or 0) + thought,
            usage.cached_content_token_count or 0,
            0,
            thought,
        )
        for candidate in chunk.candidates or []:
            for part in (candidate.content and candidate.content.parts) or []:
                if part.text and not part.thought:
                    text += part.text
                if part.function_call:
                    signature = plain(part).get("thoughtSignature")
                    name = part.function_call.id or f"tepa_call_{len(calls)}"
                    calls.append(call(name, part.function_call.name, part.function_call.args or {}, signature))
            finish = candidate.finish_reason and candidate.finish_reason.value or finish
    ends = {"MAX_TOKENS": "max_tokens", "SAFETY": "content_filter", None: "content_filter"}
    return answer(text, calls, ends.get(finish) or (calls and "tool_use") or "end_turn", tokens, model)


def call(name, tool, arguments, carried):
    called = {"id": name, "name": tool, "input": arguments}
    return {**called, "carried": carried} if carried else called


def counted(read, written, cache_read, cache_write, reasoning):
    return {"input": read, "output": written, "cacheRead": cache_read, "cacheWrite": cache_write, "reasoning": reasoning}


def answer(text, calls, finish, tokens, model):
    return {"text": text, "toolUses": calls, "finishReason": finish, "usage": tokens, "model": model, "requestId": "req_01"}


def check_anthropic_sent(path, headers, _exchange):
    # The key goes in a header of its own here; this client writes it as a bearer, which is taken too.
    same((path, headers["authorization"]), ("/v1/messages", f"Bearer {KEY}"))
    # The version that the app asks for is the one whose types these are.
    source = (PROVIDERS / "src/anthropic.rs").read_text()
    same(re.search(r'\("anthropic-version", "([0-9-]+)"\)', source).group(1), headers["anthropic-version"])


def check_openai_sent(path, headers, _exchange):
    same((path, headers["authorization"]), ("/v1/responses", f"Bearer {KEY}"))


def check_chat_sent(path, headers, _exchange):
    same((path, headers["authorization"]), ("/v1/chat/completions", f"Bearer {KEY}"))


def check_gemini_sent(path, headers, exchange):
    model = exchange["request"]["model"]
    same((path, headers["x-goog-api-key"]), (f"/v1/models/{model}:streamGenerateContent?alt=sse", KEY))


CLIENTS = {
    "anthropic": (
        lambda body: check_typed(MessageCreateParamsStreaming, body),
        RawMessageStreamEvent,
        answer_of_anthropic,
        check_anthropic_sent,
    ),
    "openai": (
        lambda body: check_typed(ResponseCreateParamsStreaming, body),
        ResponseStreamEvent,
        answer_of_openai,
        check_openai_sent,
    ),
    "openai_compatible": (
        lambda body: check_typed(CompletionCreateParamsStreaming, body),
        ChatCompletionChunk,
        answer_of_chat,
        check_chat_sent,
    ),
    "gemini": (check_gemini_body, gemini.GenerateContentResponse, answer_of_gemini, check_gemini_sent),
}


# ---- Checks ---------------------------------------------------------------------------------------------------------


def body_is_known(provider, exchange):
    for body in [exchange["body"], *(simpler["body"] for simpler in exchange.get("simpler", []))]:
        CLIENTS[provider][0](body)


def events_are_known(provider, exchange):
    for event in exchange["events"]:
        # A heartbeat, which the client drops before it looks at types.
        if event != {"type": "ping"}:
            check_event(CLIENTS[provider][1], event)


def client_does_the_same(provider, exchange):
    _, _, ask, check_sent = CLIENTS[provider]
    found, (path, headers, sent) = talk(exchange, ask)
    same(found, exchange["response"])
    check_sent(path, {name.lower(): value for name, value in headers.items()}, exchange)
    same(sent, as_client_writes(provider, exchange["body"]))


def as_client_writes(provider, body):
    """Google's client writes some names in the other of the two ways that its protocol takes, and empty settings too."""
    if provider == "gemini":
        text = json.dumps(body)
        for name in ("parametersJsonSchema", "thinkingLevel", "thinkingBudget", "includeThoughts"):
            other = re.sub("([A-Z])", r"_\1", name).lower()
            text = text.replace(f'"{name}"', f'"{other}"')
        body = json.loads(text)
        body.setdefault("generationConfig", {})
    return body


# What the tests of the app and its providers sent and got, by route. Servers that speak chat completions have fields of
# their own, which this vendor's types do not know: each is named here, with where it may stand.
ROUTES = [
    (re.compile(r".*/messages$"), "anthropic", Message),
    (re.compile(r".*/responses$"), "openai", Response),
    (re.compile(r".*/chat/completions$"), "openai_compatible", ChatCompletion),
    (re.compile(r".*:streamGenerateContent\?alt=sse$"), "gemini", gemini.GenerateContentResponse),
]
# DeepSeek, OpenRouter, Gemini as chat completions; and OpenRouter for Claude.
OF_MESSAGES = ("reasoning_content", "reasoning_details", "reasoning")
OF_PARTS = ("cache_control", "extra_content")


def without_extensions(body):
    body = copy.deepcopy(body)
    messages = list(body.get("messages", []))
    for choice in body.get("choices", []):
        messages += [choice[name] for name in ("delta", "message") if name in choice]
    for message in messages:
        for name in OF_MESSAGES:
            message.pop(name, None)
        parts = [part for name in ("content", "tool_calls") for part in (message.get(name) or []) if isinstance(part, dict)]
        for part in parts:
            for name in OF_PARTS:
                part.pop(name, None)
    return body


def check_kept(kept):
    """A line of what was kept; which provider's it is, or none where it is nobody's that is known here."""
    for route, provider, whole in ROUTES:
        if route.fullmatch(kept["route"]):
            own = without_extensions if provider == "openai_compatible" else lambda said: said
            if "body" in kept:
                CLIENTS[provider][0](own(kept["body"]))
            for event in kept.get("events", []):
                check_event(CLIENTS[provider][1], own(event))
            if kept.get("answer") is not None:
                check_event(whole, own(kept["answer"]))
            return provider
    return None


def check_all_kept(file):
    """How many different lines were right and wrong."""
    passed, failed = dict.fromkeys(CLIENTS, 0), 0
    for line in sorted(set(Path(file).read_text().splitlines())):
        try:
            provider = check_kept(json.loads(line))
            if provider:
                passed[provider] += 1
        except Exception as error:
            failed += 1
            print(f"FAILED {line[:500]}: {error}"[:2000])
    for provider, count in passed.items():
        assert count, f"the tests kept nothing of {provider}"
    wrong = [
        {"route": "/v1/messages", "body": {"model": "m", "messages": [], "max_tokens": 1, "stream": True, "inventedField": 1}},
        {"route": "/v1/chat/completions", "events": [{"id": "c", "choices": [], "invented_field": 1}]},
        {"route": "/v1/responses", "answer": {"invented_field": 1}},
    ]
    for broken in wrong:
        try:
            check_kept(broken)
        except Exception:
            continue
        raise AssertionError(f"nobody notices what is wrong with {broken}")
    print("kept by the tests: " + ", ".join(f"{provider} {count}" for provider, count in passed.items()))
    return sum(passed.values()), failed


def what_is_wrong_is_noticed(provider, exchange):
    """A check that cannot fail is none."""
    wrong = [copy.deepcopy(exchange) for _ in range(4)]
    wrong[0]["body"]["inventedField"] = 1
    wrong[3]["simpler"] = [{"body": {**exchange["body"], "inventedField": 1}}]
    wrong[1]["events"][-1 if provider != "anthropic" else 0]["invented_field"] = 1
    wrong[2]["response"]["text"] += "!"
    for check, broken in zip((body_is_known, events_are_known, client_does_the_same, body_is_known), wrong):
        try:
            check(provider, broken)
        except Exception:
            continue
        raise AssertionError(f"{check.__name__} does not notice what is wrong")


def main():
    # No proxy stands between this machine and itself.
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    passed = failed = 0
    for provider in CLIENTS:
        files = sorted((PROVIDERS / "tests/wire/exchanges" / provider).glob("*.json"))
        assert files, f"no exchange is kept of {provider}"
        for file in files:
            exchange = json.loads(file.read_text())
            checks = [body_is_known, events_are_known, client_does_the_same]
            if file.stem == "text":
                checks.append(what_is_wrong_is_noticed)
            for check in checks:
                try:
                    check(provider, exchange)
                    passed += 1
                except Exception as error:
                    failed += 1
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    print(f"FAILED {provider} {file.stem}: {check.__name__} ({inspect.getmodulename(where.filename)}:{where.lineno}): {error}")
    if "TEPA_BODIES" in os.environ:
        right, wrong = check_all_kept(os.environ["TEPA_BODIES"])
        passed, failed = passed + right, failed + wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
