import { expect, test } from '@jest/globals';
import { strftime } from './strftime.js';

// Python 3: datetime(2026, 3, 5, 13, 4, 9).strftime(…)
test.each([
  ['%d %b %Y', '05 Mar 2026'],
  ['%A, %B %d, %Y', 'Thursday, March 05, 2026'],
  ['%a %y-%m-%d %H:%M:%S', 'Thu 26-03-05 13:04:09'],
  ['%-d/%-m %I %p', '5/3 01 PM'],
  ['100%% %Q %', '100% %Q %'],
])('writes %s', (format, text) => {
  expect(strftime(format, new Date(2026, 2, 5, 13, 4, 9))).toBe(text);
});
