/** PEM texts. */
export interface Certificate {
    readonly cert: string;
    readonly key: string;
}
export declare class Authority {
    private readonly folder;
    constructor(name: string);
    /** Its own certificate. */
    get cert(): string;
    /** For server and client, under the name and at 127.0.0.1. */
    issue(name: string): Certificate;
    remove(): void;
    private read;
    private openssl;
}
