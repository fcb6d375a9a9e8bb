// The page at /ui in a browser: opens it, chats, asks an accessibility checker; and a gateway that puts a prefix before it.

import { createServer, request as ask, type Server } from 'node:http';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

export const widths = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** As root, as in containers, Chromium has no sandbox. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

interface Opened {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
}

export async function open(browser: Browser, url: string, viewport = widths.desk): Promise<Opened> {
  const page = await browser.newPage({ viewport });
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, complaints };
}

export const serving = (page: Page): Promise<void> =>
  page.locator('#state', { hasText: 'serving' }).waitFor();

/** Sends a message whose answer continues until it is stopped. */
export async function askForLongAnswer(page: Page): Promise<void> {
  await page.route('**/v1/chat/completions', (route) => {
    const body = route.request().postDataJSON() as object;
    return route.continue({ postData: JSON.stringify({ ...body, ignore_eos: true, max_tokens: 4000 }) });
  });
  await page.getByLabel('Message').fill('Tell me all');
  await page.getByLabel('Message').press('Enter');
}

/** Sends a message and waits for the end of the answer. */
export async function chat(page: Page, text: string): Promise<string> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('#conversation[aria-busy=false] .turn').last().waitFor();
  return page.locator('.turn .text').last().innerText();
}

/** Rules that the page breaks. */
export async function violations(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: axe.source });
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      readonly axe: {
        run(): Promise<{ readonly violations: { readonly id: string; readonly help: string }[] }>;
      };
    };
    return (await checker.run()).violations.map(({ id, help }) => `${id}: ${help}`);
  });
}

/** Takes the prefix away, as a gateway's route does. */
export async function startGateway(prefix: string, url: string): Promise<Server> {
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    if (!path.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const outgoing = ask(url + path.slice(prefix.length), { method: method!, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
