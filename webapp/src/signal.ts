/** Something that happens from time to time. */
export type Signal<T = void> = {

    /** Tells all present listeners that it happened. */
    emit: (value: T) => void;

    /** Calls `listener` each time, until the function it returns is called. */
    subscribe: (listener: (value: T) => void) => () => void;
};

/** A signal without listeners. */
export function createSignal<T = void>(): Signal<T> {
    const listeners = new Set<(value: T) => void>();
    return {
        emit: (value) => {
            for (const listener of [...listeners]) {
                listener(value);
            }
        },
        subscribe: (listener) => {
            listeners.add(listener);
            return () => {
                listeners.delete(listener);
            };
        },
    };
}
