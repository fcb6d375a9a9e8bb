import { expect, test } from '@jest/globals';
import { resolveConfig } from './config/resolve-config.js';
import { storeSettingsOf } from './store-settings.js';

const listOf = (uri: string) => {
  const env = { STORAGE_URI: uri, MODEL_NAME: 'm', MODEL_LIST_TOKEN: 't' };
  return storeSettingsOf(resolveConfig({ file: null, env, flags: {} })).list.token;
};

test('the token of lists is for the origin of the list that is the model', () => {
  expect(listOf('https://h:8443/m/files.json/fp8')).toEqual({ text: 't', origin: 'https://h:8443' });
  expect(listOf('s3://bucket/model/')).toBeNull();
});
