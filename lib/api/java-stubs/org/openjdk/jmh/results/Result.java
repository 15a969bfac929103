// SPDX-License-Identifier: MIT
package org.openjdk.jmh.results;

public abstract class Result<T extends Result<T>> {
}
