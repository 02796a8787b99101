"""Prompts by the chat template in a tokeniser's folder, as `transformers` renders it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from morphgraph.formats.tokeniser_classes import TOKEN_ROLES, token_content

_TURNS = (("user",), ("system", "user"), ("user", "assistant", "user"))


def sample_prompts(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return some prompts by the roles of their turns; none without a template, or if it refuses.

    >>> template = "{% for m in messages %}<{{ m.role }}>{% endfor %}"
    >>> [*sample_prompts({"chat_template": template}).values()]
    ['<user>', '<system><user>', '<user><assistant><user>']
    """
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    template: Any = settings.get("chat_template")
    if isinstance(template, list):
        template = {each.get("name"): each.get("template") for each in template}.get("default")
    flags = {"trim_blocks": True, "lstrip_blocks": True}
    sandbox = ImmutableSandboxedEnvironment(**flags, extensions=["jinja2.ext.loopcontrols"])
    sandbox.globals["strftime_now"] = str  # the same on each day
    tokens = {role: token_content(settings.get(role)) or "" for role in TOKEN_ROLES}
    prompts = {}
    for roles in _TURNS if isinstance(template, str) else ():
        turns = [{"role": role, "content": f"Is “{role}” a word?\nOr 2?"} for role in roles]
        with suppress(TemplateError, TypeError):  # also its raise_exception, which is undefined
            made = sandbox.from_string(template)
            prompts[" → ".join(roles)] = made.render(
                messages=turns, add_generation_prompt=True, **tokens
            )
    return prompts
