"""The only file that talks to Numba: two decorators and one cache rule.

Numba's own cache looks at the file a kernel is written in, not at the helpers it calls: after an upgrade
it can return numbers computed by the *old* helper.  Here every kernel file has a digest of its own text and,
transitively, of the kernel files it imports; the cache folder carries that digest in its name.  A change
anywhere below a kernel therefore leads to a new folder, and leaves the unrelated kernels compiled.  Where the package
lies does not matter: a second environment or checkout of the same version finds everything compiled.
"""

import contextlib
import functools
import gc
import hashlib
import importlib
import pathlib
import pickle
import re
import sys
import threading
from typing import Any

import llvmlite.binding as llvm
import llvmlite.ir as llvm_ir
import numba
import numba.extending
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from hyperplan._core.cache_folder import (
    CACHE_VARIABLE,
    cache_home,
    cache_place,
    mark_used,
    prune,
    writable_cache_home,
)
from hyperplan._core.compiling import compile_watch

__all__ = [
    "CACHE_VARIABLE",
    "cache_home",
    "fast_kernel",
    "inner_kernel",
    "kernel",
    "kernels",
    "prefetch",
    "source_digest",
    "view_kernel",
    "writable_cache_home",
]

_THIS_FILE = pathlib.Path(__file__).resolve()
PACKAGE_ROOT = _THIS_FILE.parents[1]
_IMPORT = re.compile(r"^from\s+hyperplan\.([\w.]+)\s+import", re.MULTILINE)
_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}
_settings: Any = numba.config  # its attributes come from environment variables, which type checkers cannot see

_cache_dir_lock = threading.Lock()  # two threads may import kernel files at the same time

_used: set[str] = set()  # digests of the kernel files imported so far
kernels: list = []  # every compiled function in order of definition; `hyperplan doctor` counts them


def imported_kernel_files(path: pathlib.Path) -> list[pathlib.Path]:
    """The package's modules that a kernel file imports (kernel files import at the top, absolutely)."""
    found = []
    for dotted in _IMPORT.findall(path.read_text(encoding="utf-8")):
        target = PACKAGE_ROOT.joinpath(*dotted.split("."))
        found.append(target / "__init__.py" if target.is_dir() else target.with_suffix(".py"))
    return found


@functools.cache
def source_digest(path: pathlib.Path) -> str:
    """Digest of a kernel file, of everything it imports, of this file and of the Numba and CPU at hand."""
    stamp = hashlib.sha256(f"{numba.__version__} {_host()}".encode())
    pending, seen = [path, _THIS_FILE], set()
    while pending:
        current = pending.pop(0)
        if current not in seen:
            seen.add(current)
            stamp.update(current.read_bytes())
            if current != _THIS_FILE:
                pending += imported_kernel_files(current)
    return stamp.hexdigest()[:16]


@functools.cache
def _host() -> str:
    """What compiled code depends on besides its source: the CPU, and the switches that change code."""
    switches = (_settings.BOUNDSCHECK, _settings.OPT, _settings.CPU_NAME)
    return f"{llvm.get_host_cpu_name()} {sys.implementation.cache_tag} {switches}"


class _DigestFolder(UserProvidedCacheLocator):
    """The folder named by the digest itself; Numba would add one that depends on where the source file lies."""

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        self._cache_path = _settings.CACHE_DIR

    @classmethod
    def from_function(cls, py_func, py_file):
        """Always one: a folder that cannot be written may be read, and the first kernel to be kept makes it."""
        return cls(py_func, py_file)


class _KernelFiles(CompileResultCacheImpl):
    """Where a compiled kernel is kept."""

    _locator_classes = [_DigestFolder]


class _KernelCache(FunctionCache):
    """Numba's cache of one kernel, without the wait that machine code does not need.

    Before it reads a cached kernel, Numba fills its compiler with all it knows about Python and NumPy (0.2 s).
    Compiled code needs none of it, only the addresses of the C functions it calls.  Their names are stored beside the
    code; the compiler is set up only when this process does not know one of them.

    A cache that cannot be read or written is none: kernels are compiled, and those who ask are told why.
    """

    _impl_class = _KernelFiles
    elsewhere: "_KernelCache | None" = None  # a cache that is only read

    def load_overload(self, sig, target_context):
        """The compiled kernel for these argument types, or None; a damaged file counts as none."""
        found = None
        try:
            found = self._load_overload(sig, target_context)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, AttributeError, ImportError):
            with contextlib.suppress(OSError):
                self.flush()
        except OSError:
            pass
        if found is None and self.elsewhere is not None:
            return self.elsewhere.load_overload(sig, target_context)
        return found

    def save_overload(self, sig, data):
        """Keep a compiled kernel, if there is room for it."""
        try:
            self._save_overload(sig, data)
        except OSError as error:
            compile_watch.trouble = error.strerror or str(error)

    def _load_overload(self, sig, target_context):
        stored = self._cache_file.load(self._index_key(sig, target_context.codegen()))
        if stored is None:
            return None
        names, data = stored
        _publish_runtime()
        if names is None or not all(map(llvm.address_of_symbol, names)):
            target_context.refresh()
        return self._impl.rebuild(target_context, data)

    def _save_overload(self, sig, data):
        if self._impl.check_cachable(data):
            self._impl.locator.ensure_cache_path()
            key, names = self._index_key(sig, data.codegen), _external_names(data.library)
            self._cache_file.save(key, (names, self._impl.reduce(data)))
            _prune_once()


def _external_names(library) -> list[str] | None:
    """What compiled code calls or reads outside itself; None when this Numba does not tell."""
    try:
        module = library._final_module
        symbols = [*module.functions, *module.global_variables]
        return [item.name for item in symbols if item.is_declaration and not item.name.startswith("llvm.")]
    except AttributeError:
        return None


@functools.cache
def _publish_runtime() -> None:
    """Tell LLVM where Numba's runtime (it counts references) is, as Numba does when it sets up its compiler."""
    with contextlib.suppress(ImportError, AttributeError):
        runtime = importlib.import_module("numba.core.runtime._nrt_python")
        for name, address in runtime.c_helpers.items():
            llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@functools.cache
def current_digests() -> frozenset[str]:
    """The digests of all kernel files of this version."""
    return frozenset(source_digest(path) for path in PACKAGE_ROOT.rglob("_*kernels.py"))


@functools.cache
def _prune_once() -> None:
    """Remove what nobody uses any more, when something was compiled: then there may be something to remove."""
    home = writable_cache_home()
    with contextlib.suppress(OSError):
        if home is not None:
            prune(home, {*current_digests(), *_used})


@functools.cache
def _cache_folders(file: str) -> list[pathlib.Path]:
    """The folders of a kernel file's digest, marked as in use: that which is written, that which is only read."""
    writable_cache_home()  # complains if there is none
    place = cache_place()
    homes = [home for home in (place.home, place.readable) if home is not None]
    if not homes:
        return []
    digest = source_digest(pathlib.Path(file).resolve())
    _used.add(digest)
    mark_used(homes[0] / digest)
    return [home / digest for home in homes]


def _cached(compiled, func):
    with _cache_dir_lock:
        caches = [_cache_in(folder, func) for folder in _cache_folders(func.__code__.co_filename)]
        if caches:
            compiled._cache, *others = caches
            compiled._cache.elsewhere = others[0] if others else None
    return compiled


def _cache_in(folder: pathlib.Path, func) -> _KernelCache:
    saved, _settings.CACHE_DIR = _settings.CACHE_DIR, str(folder)
    try:
        return _KernelCache(func)
    finally:
        _settings.CACHE_DIR = saved


def _compile_watched(compiler, *args, **kwargs):
    """Numba's compilation of what the cache does not have: others wait for it, and know why."""
    who = object()
    compile_watch.begin(who)
    try:
        return type(compiler).compile(compiler, *args, **kwargs)
    finally:
        compile_watch.end(who)


class _PartLibrary(JITCodeLibrary):
    """Optimised code that other code takes in: it never becomes machine code of its own."""

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _PartCompiler(Compiler):
    """Compiles a kernel as a part of others."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):  # names of Numba's caller
        library = _PartLibrary(targetctx.codegen(), "part")
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        self.state.flags.no_compile = True


class _Parts:
    """A kernel as other kernels see it.

    Numba gives each kernel an entrance for Python, machine code and a place in the cache, also when it only becomes a
    part of another; that is a third of the time a first call takes.  Parts have none of this.  A kernel that Python has
    called before with the same types is taken in as it is.
    """

    def __init__(self, func, whole, options):
        self._func, self._whole, self._options = func, whole, options

    @functools.cached_property
    def _part(self):
        options = {**self._options, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}
        part = numba.njit(**options)(self._func)
        part.add_overload = functools.partial(self._add, part)
        return part

    def _add(self, part, result):
        part.overloads[tuple(result.signature.args)] = result
        part.targetctx.insert_user_function(result.library, result.fndesc, [result.library])

    def get_call_template(self, args, kws):
        """What Numba asks when it meets a call: a template with the return type, after compiling if need be."""
        whole = self._whole
        known = tuple(whole._compiler.fold_argument_types(args, kws)[1]) in whole.overloads
        return type(whole).get_call_template(whole if known else self._part, args, kws)

    def get_overload(self, signature):
        """The name under which `insert_user_function` knows the compiled kernel."""
        args = tuple(getattr(signature, "args", signature))
        found = self._whole.overloads.get(args)
        return self._part.overloads[args].library if found is None else found.entry_point


def _compile_in_one_go(compiled, *args, **kwargs):
    """Numba's compilation without the search for garbage, which would look through all that was imported many times.

    Several threads may do this at a time: whoever finds the search switched on switches it on again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return type(compiled)._compile_for_args(compiled, *args, **kwargs)
    finally:
        if was_enabled:
            gc.enable()


def _add_with_parts(compiled, result):
    """Keep a compiled kernel, and tell its parts where their constants are."""
    type(compiled).add_overload(compiled, result)
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)


def _compile(func, **options):
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    compiled = numba.njit(**options)(func)
    if _settings.DISABLE_JIT:  # `compiled` is `func`; like compiled code it must not warn (random numbers wrap around)
        compiled = np.errstate(all="ignore")(compiled)
    else:
        compiled = _cached(compiled, func)
        parts = _Parts(func, compiled, options)
        compiled.get_call_template, compiled.get_overload = parts.get_call_template, parts.get_overload
        compiled._compile_for_args = functools.partial(_compile_in_one_go, compiled)
        compiled._compiler.compile = functools.partial(_compile_watched, compiled._compiler)
        compiled.add_overload = functools.partial(_add_with_parts, compiled)
    kernels.append(compiled)
    return compiled


def kernel(func):
    """Compile on first call: serial, GIL released, division by zero gives inf, IEEE order of operations."""
    return _compile(func)


def fast_kernel(func):
    """A `kernel` whose sums may be reordered and fused (so they vectorise).

    For leaf reductions only: NaN and infinities keep their meaning, the rounding of sums does not depend on
    the data or on threads, but differs from the textbook order.
    """
    return _compile(func, fastmath=_REASSOCIATE)


def inner_kernel(func):
    """A `view_kernel` that only other kernels call: whoever calls it from Python is told so."""
    compiled = view_kernel(func)
    if not _settings.DISABLE_JIT:
        compiled._compile_for_args = _refuse
    return compiled


def _refuse(*args, **kwargs):
    raise TypeError("this kernel has no entrance for Python; call it from another kernel")


def view_kernel(func):
    """A `kernel` that makes no arrays, only views of its arguments: no references to count, less to compile."""
    return _compile(func, _nrt=False)


def _emit_prefetch(context, builder, signature, arguments):
    """LLVM's hint for ``array[i]``, to be read soon and more than once."""
    array_type, index_type = signature.args
    array = context.make_array(array_type)(context, builder, arguments[0])
    byte, word, address = llvm_ir.IntType(8).as_pointer(), llvm_ir.IntType(32), llvm_ir.IntType(64)
    kind = llvm_ir.FunctionType(llvm_ir.VoidType(), [byte, word, word, word])
    index = context.cast(builder, arguments[1], index_type, numba.types.intp)
    start = builder.ptrtoint(array.data, address)
    place = builder.add(start, builder.mul(index, builder.extract_value(array.strides, 0)))
    hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    read, keep, data = (llvm_ir.Constant(word, value) for value in (0, 3, 1))
    builder.call(hint, [builder.inttoptr(place, byte), read, keep, data])
    return context.get_dummy_value()


def _prefetch_type(context, array, index):
    return numba.types.void(array, index), _emit_prefetch


def _ignore_prefetch(array, index):
    """In a kernel: start to load ``array[index]`` (the first bytes of a row), which is read a few iterations later.

    For gathers whose next places are known but which no hardware can guess; the index must be valid.
    """


prefetch: Any = _ignore_prefetch if _settings.DISABLE_JIT else numba.extending.intrinsic(_prefetch_type)
prefetch.__doc__ = _ignore_prefetch.__doc__
