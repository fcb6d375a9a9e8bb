// Entry of the page.

import { startChat } from './chat.js';
import { showStatus } from './status.js';

startChat();
void showStatus();
