# To be sourced by tests that start $program with mpirun: `found` has each MPI that is installed (Debian: openmpi-bin,
# mpich) and built (targets heed_openmpi, heed_mpich). Ends the test if there is none.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# More processes than cores, on one host. Open MPI warns of a folder in /tmp that is shared with others.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
# Open MPI's folder of sessions is removed by the program that ends last: not shared with other tests.
export OMPI_MCA_orte_tmpdir_base=${work:-/tmp}
found=()
for mpi in openmpi mpich; do
  if type "mpirun.$mpi" &>/dev/null && [[ -e ${program%/*}/heed-$mpi.so ]]; then found+=("$mpi"); fi
done
if ((${#found[@]} == 0)); then
  echo "skipped: no MPI is installed and built"
  exit 0
fi

# errors FILE: the errors in it, each once. Processes with the same error let the first of them print it and end all; on a
# busy machine another may be as fast.
errors() { grep -o 'error: .*' "$1" | sed -E 's/^error: (process [0-9]+ of [0-9]+: )?/error: /' | sort -u; }
