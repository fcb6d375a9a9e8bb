// Errors as the Open Inference Protocol has them, with the code and the field that every other route reports beside the text.

import type { ApiError } from '../../request/body/api-error.js';

interface InferenceErrorBody {
  readonly error: string;
  readonly code: string;
  readonly param: string | null;
}

export const inferenceError = ({ message, code, param }: ApiError): InferenceErrorBody => ({
  error: message,
  code,
  param,
});
