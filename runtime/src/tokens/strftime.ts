// A time as Python's strftime() writes it in the C locale, in the process's time zone. The package of this name follows a
// locale of its own: it writes %X with AM and has no %f.

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const digits = (value: number, length = 2): string => String(value).padStart(length, '0');
const short = (name = ''): string => name.slice(0, 3);

function dayOfYear(time: Date): number {
  const [year, month, day] = [time.getFullYear(), time.getMonth(), time.getDate()];
  return (Date.UTC(year, month, day) - Date.UTC(year, 0, 0)) / 86_400_000;
}

const codes: Readonly<Record<string, (time: Date) => string>> = {
  a: (time) => short(days[time.getDay()]),
  A: (time) => days[time.getDay()] ?? '',
  b: (time) => short(months[time.getMonth()]),
  B: (time) => months[time.getMonth()] ?? '',
  d: (time) => digits(time.getDate()),
  H: (time) => digits(time.getHours()),
  I: (time) => digits(time.getHours() % 12 || 12),
  j: (time) => digits(dayOfYear(time), 3),
  m: (time) => digits(time.getMonth() + 1),
  M: (time) => digits(time.getMinutes()),
  p: (time) => (time.getHours() < 12 ? 'AM' : 'PM'),
  S: (time) => digits(time.getSeconds()),
  y: (time) => digits(time.getFullYear() % 100),
  Y: (time) => String(time.getFullYear()),
  '%': () => '%',
};

/** Codes that it does not know stay as they are. A `-` in one leaves leading zeros out. */
export function strftime(format: string, time: Date): string {
  return format.replace(/%(-?)(.)/gs, (whole, dash: string, code: string) => {
    const written = Object.hasOwn(codes, code) ? codes[code]?.(time) : undefined;
    return (dash === '' ? written : written?.replace(/^0+(?=.)/, '')) ?? whole;
  });
}
