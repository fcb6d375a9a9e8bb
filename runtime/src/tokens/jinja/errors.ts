// Errors of templates.

/** The text is no template; found when it is parsed. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';

  constructor(message: string, line: number) {
    super(`${message} (line ${String(line)})`);
  }
}

/** A render failed: the template raised it, or Python would have raised it. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError';
}

/** The template refuses the conversation with `raise_exception`, or lacks a variable that a request can give. */
export class TemplateRefusal extends TemplateError {
  override readonly name = 'TemplateRefusal';
}

/** The template uses what Jinja does not have: no request can help it. */
export class TemplateFlaw extends TemplateError {
  override readonly name = 'TemplateFlaw';
}
