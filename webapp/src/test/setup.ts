import '@testing-library/jest-dom/vitest';

import {cleanup, configure} from '@testing-library/react';
import {afterEach} from 'vitest';

afterEach(cleanup);

// A machine may be busy.
configure({asyncUtilTimeout: 10_000});

// jsdom lays nothing out: a list is as high as this, so that its rows are there.
Object.defineProperty(HTMLElement.prototype, 'clientHeight', {get: () => 600});
Object.defineProperty(HTMLElement.prototype, 'clientWidth', {get: () => 600});
HTMLElement.prototype.scrollTo = () => undefined;
window.ResizeObserver = class implements ResizeObserver {
    constructor(private readonly changed: ResizeObserverCallback) {}

    observe(): void {
        this.changed([], this);
    }

    unobserve(): void {
        // Nothing changes.
    }

    disconnect(): void {
        // Nothing changes.
    }
};
