import type {ApiError} from '../client';
import type {ErrorCode} from '../types';

/** After these the same request may be sent again with its key; any other answer is kept by the server. */
const unanswered: readonly ErrorCode[] = [
    'offline', 'unreadable', 'not_connected', 'rate_limited', 'host_unavailable', 'maintenance', 'timeout', 'internal', 'not_configured', 'conflict',
];

/** Makes the key under which a request is sent, so that it is safe to send it again. */
export function newKey(): string {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The key to send a request again with that has failed, or none, with the key that it had. */
export function keyAfter(problem: ApiError | undefined, key: string, fresh: () => string): string {
    return problem && !unanswered.includes(problem.code) ? fresh() : key;
}
