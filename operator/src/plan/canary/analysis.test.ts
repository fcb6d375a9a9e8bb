import { describe, expect, test } from '@jest/globals';
import { judgeCanary, type Analysis } from './analysis.js';
import { addedSince, noFigures, parseFigures, type Figures } from './figures.js';

const rules: Analysis = {
  ...{ minRequests: 50, maxErrorPoints: 1, maxRefusalPoints: 5, maxFirstTokenIncreasePercent: 25 },
  ...{ maxTokenTimeIncreasePercent: 25, maxLengthChangePercent: 50 },
};
/** A hundred answers of 10 tokens, the first after 0.2 s, the others 10 ms apart. */
const usual: Figures = {
  ...{ answers: 100, failedAnswers: 0, generations: 100, failedGenerations: 0, rejections: 0 },
  ...{
    firstTokenSeconds: 20,
    firstTokens: 100,
    tokenSeconds: 1,
    tokenTimes: 100,
    answerTokens: 1000,
    lengths: 100,
  },
};
const judged = (canary: Partial<Figures>, stable: Partial<Figures> = {}, alone = false) =>
  judgeCanary(rules, { ...usual, ...canary }, { ...usual, ...stable }, alone);

describe('a canary', () => {
  test.each<[string, Partial<Figures>, Partial<Figures>, string]>([
    ['like the stable one passes', {}, {}, 'passed'],
    ['with too few requests is not judged', { answers: 49, generations: 49 }, {}, 'open'],
    ['without others to compare with is not judged', {}, { answers: 0, generations: 0 }, 'open'],
    ['of embeddings is judged by its answers', { generations: 0 }, { generations: 0 }, 'passed'],
    [
      'within all bounds passes',
      { firstTokenSeconds: 25, tokenSeconds: 1.25, answerTokens: 1500, rejections: 5, failedAnswers: 1 },
      {},
      'passed',
    ],
    ['that fails as often as the stable one passes', { failedAnswers: 30 }, { failedAnswers: 30 }, 'passed'],
    ['that answers 5xx is worse', { failedAnswers: 2 }, {}, 'worse'],
    ['whose streams end in errors is worse', { failedGenerations: 2 }, {}, 'worse'],
    ['that refuses more is worse', { rejections: 6 }, {}, 'worse'],
    ['with later first tokens is worse', { firstTokenSeconds: 25.1 }, {}, 'worse'],
    ['with slower tokens is worse', { tokenSeconds: 1.26 }, {}, 'worse'],
    ['with longer answers is worse', { answerTokens: 1501 }, {}, 'worse'],
    ['with shorter answers is worse', { answerTokens: 666 }, {}, 'worse'],
  ])('%s', (_, canary, stable, state) => {
    expect(judged(canary, stable).state).toBe(state);
  });

  test('that gets all requests is judged by its errors alone', () => {
    expect(judged({ firstTokenSeconds: 90 }, noFigures, true).state).toBe('passed');
    expect(judged({ failedAnswers: 2 }, noFigures, true).state).toBe('worse');
  });

  test('reports every complaint with both numbers and the bound', () => {
    expect(judged({ failedAnswers: 2, tokenSeconds: 2 })).toEqual({
      state: 'worse',
      message:
        '2.0 % of its requests failed, of the stable revision’s 0.0 % (at most 1 points more); a further token takes ' +
        '20.0 ms, of the stable revision 10.0 ms (at most 25 % more)',
    });
  });
});

test('figures are sums over series, as vLLM and our engine write them', () => {
  const text = [
    '# HELP http_requests_total Answers.',
    'http_requests_total{handler="/v1/a",method="POST",status="2xx"} 7',
    'http_requests_total{handler="/v1/b",method="POST",status="5xx"} 2',
    'vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 5',
    'vllm:request_success_total{engine="1",finished_reason="error",model_name="m"} 1.0',
    'vllm:admission_rejections_total{model_name="m",reason="max_num_queued_reqs"} 3',
    'vllm:time_to_first_token_seconds_bucket{le="0.1"} 99',
    'vllm:time_to_first_token_seconds_sum{engine="0"} 1.5',
    'vllm:time_to_first_token_seconds_count{engine="0"} 6',
  ].join('\n');
  expect(parseFigures(text)).toEqual({
    ...noFigures,
    ...{ answers: 9, failedAnswers: 2, generations: 6, failedGenerations: 1, rejections: 3 },
    ...{ firstTokenSeconds: 1.5, firstTokens: 6 },
  });
});

test('a server that began anew has counted from nothing', () => {
  const later = { ...usual, answers: 130, generations: 130 };
  expect(addedSince(usual, later)).toMatchObject({ answers: 30, generations: 30, firstTokens: 0 });
  expect(addedSince(usual, { ...usual, answers: 4 })).toMatchObject({ answers: 4, firstTokens: 100 });
});
