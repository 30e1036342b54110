import {describe, expect, it} from 'vitest';

import {ApiError} from '../client';
import type {Connection} from '../types';
import {reduce, type Event, type Page, type View} from './connection';

const absent: Connection = {
    state: 'not_connected',
    host: {id: 'default', name: 'Company Cloud', kind: 'nextcloud'},
    method: 'oauth',
    methods: ['oauth', 'login_flow', 'password'],
    automatic: false,
};
const dead: Connection = {...absent, state: 'reconnect', account: 'alice'};
const live: Connection = {...absent, state: 'connected', account: 'alice', since: '2026-11-20T09:30:00Z'};
const problem = new ApiError({code: 'host_unavailable', message: 'The host does not answer.'}, 502);
const unconfigured = new ApiError({code: 'not_configured', message: 'Not set up.'}, 503);
const expired = new ApiError({code: 'not_found', message: 'No account waits to be connected.'}, 404);
const page: Page = {address: 'https://cloud.example.com/authorize', blocked: false};
const byItself: Connection = {...absent, method: 'token_exchange', methods: ['token_exchange', 'oauth'], automatic: true};
const refused: Connection = {...byItself, method: 'oauth', automatic: false, refused: {method: 'token_exchange', reason: 'No account.'}};
const offered: Connection = {...absent, pending: {account: 'alice', expires_at: '2026-11-21T12:05:00Z'}};

const loading: View = {step: 'loading'};
const disconnected: View = {step: 'disconnected', connection: absent, method: 'oauth', busy: false};
const waiting: View = {step: 'waiting', connection: absent, method: 'oauth', page, busy: false};
const atHost: View = {...waiting, method: 'login_flow'};
const pending: View = {step: 'pending', connection: offered, busy: false};
const connected: View = {step: 'connected', connection: live, busy: false};

const cases: Record<string, {view: View; event: Event; want: View}> = {
    'the first answer: connected': {view: loading, event: {type: 'learned', connection: live}, want: connected},
    'the first answer: not connected': {view: loading, event: {type: 'learned', connection: absent}, want: disconnected},
    'the first answer: a dead grant': {
        view: loading,
        event: {type: 'learned', connection: dead},
        want: {step: 'disconnected', connection: dead, method: 'oauth', busy: false},
    },
    'no first answer': {view: loading, event: {type: 'failed', problem}, want: {step: 'failed', problem}},
    'another try after it': {view: {step: 'failed', problem}, event: {type: 'asked'}, want: loading},
    'settings are missing': {view: loading, event: {type: 'failed', problem: unconfigured}, want: {step: 'unconfigured'}},
    'settings go missing while connected': {view: connected, event: {type: 'failed', problem: unconfigured}, want: {step: 'unconfigured'}},
    'the user submits': {
        view: {...disconnected, problem},
        event: {type: 'submitted'},
        want: {step: 'disconnected', connection: absent, method: 'oauth', busy: true},
    },
    'nothing can be submitted before the first answer': {view: loading, event: {type: 'submitted'}, want: loading},
    'what was submitted is refused': {
        view: {...disconnected, busy: true},
        event: {type: 'failed', problem},
        want: {...disconnected, problem},
    },
    'the sign-in page opens': {view: {...disconnected, busy: true}, event: {type: 'signingIn', method: 'oauth', page}, want: waiting},
    'a code is there without a sign-in here': {
        view: disconnected,
        event: {type: 'codeOffered'},
        want: {step: 'waiting', connection: absent, method: 'oauth', busy: false},
    },
    'a code makes no sense while connected': {view: connected, event: {type: 'codeOffered'}, want: connected},
    'still not connected while the user signs in': {
        view: {...waiting, problem},
        event: {type: 'learned', connection: absent},
        want: waiting,
    },
    'connected while the user signs in': {view: waiting, event: {type: 'learned', connection: live}, want: connected},
    'a wrong code': {view: {...waiting, busy: true}, event: {type: 'failed', problem}, want: {...waiting, problem}},
    'disconnected elsewhere': {view: connected, event: {type: 'learned', connection: absent}, want: disconnected},
    'disconnected here': {view: {...connected, busy: true}, event: {type: 'disconnected'}, want: disconnected},
    'disconnected here, where it would connect by itself': {
        view: {step: 'connected', connection: {...byItself, state: 'connected'}, busy: true},
        event: {type: 'disconnected'},
        want: {step: 'disconnected', connection: {...byItself, automatic: false}, method: 'token_exchange', busy: false},
    },
    'what connects by itself': {view: loading, event: {type: 'learned', connection: byItself}, want: {step: 'connecting', connection: byItself}},
    'what would connect by itself leaves who signs in alone': {
        view: waiting,
        event: {type: 'learned', connection: byItself},
        want: {...waiting, connection: byItself},
    },
    'what would connect by itself leaves who chooses alone': {
        view: {...disconnected, method: 'password'},
        event: {type: 'learned', connection: byItself},
        want: {step: 'disconnected', connection: byItself, method: 'token_exchange', busy: false},
    },
    'it is refused': {
        view: {step: 'connecting', connection: byItself},
        event: {type: 'refused', connection: refused},
        want: {step: 'disconnected', connection: refused, method: 'oauth', busy: false},
    },
    'it fails': {
        view: {step: 'connecting', connection: byItself},
        event: {type: 'failed', problem},
        want: {step: 'disconnected', connection: byItself, method: 'token_exchange', busy: false, problem},
    },
    'another method is chosen': {view: {...disconnected, problem}, event: {type: 'chosen', method: 'password'}, want: {...disconnected, method: 'password'}},
    'the chosen method stays': {
        view: {...disconnected, method: 'password'},
        event: {type: 'learned', connection: dead},
        want: {step: 'disconnected', connection: dead, method: 'password', busy: false},
    },
    'the user goes back to the methods': {view: atHost, event: {type: 'chosen', method: 'login_flow'}, want: {...disconnected, method: 'login_flow'}},
    'a sign-in ends with an account to be seen': {view: atHost, event: {type: 'learned', connection: offered}, want: pending},
    'an account to be seen is there from the start': {view: loading, event: {type: 'learned', connection: offered}, want: pending},
    'a sign-in ends with an account that is refused': {
        view: atHost,
        event: {type: 'learned', connection: {...absent, refused: {method: 'login_flow', reason: 'Another address.'}}},
        want: {...disconnected, connection: {...absent, refused: {method: 'login_flow', reason: 'Another address.'}}},
    },
    'what another method has refused before does not end a sign-in': {
        view: waiting,
        event: {type: 'learned', connection: refused},
        want: {...waiting, connection: refused},
    },
    'a sign-in takes too long': {view: atHost, event: {type: 'expired'}, want: {...disconnected, method: 'login_flow', expired: true}},
    'too late for that': {view: pending, event: {type: 'expired'}, want: pending},
    'the account is accepted': {view: {...pending, busy: true}, event: {type: 'learned', connection: live}, want: connected},
    'the account is not his': {view: {...pending, busy: true}, event: {type: 'learned', connection: absent}, want: disconnected},
    'the account waits no longer': {view: {...pending, busy: true}, event: {type: 'failed', problem: expired}, want: {...disconnected, problem: expired}},
    'accepting fails': {view: {...pending, busy: true}, event: {type: 'failed', problem}, want: {...pending, problem}},
    'disconnecting is refused': {view: {...connected, busy: true}, event: {type: 'failed', problem}, want: {...connected, problem}},
};

describe('reduce', () => {
    it.each(Object.entries(cases))('%s', (_, {view, event, want}) => {
        expect(reduce(view, event)).toEqual(want);
    });
});
